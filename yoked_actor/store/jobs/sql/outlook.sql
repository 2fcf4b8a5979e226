-- What a claim has to know first: the types that are paused, the priorities of waiting jobs, with one step in the index
-- for each, and whether a lease has ended.
WITH RECURSIVE levels (priority) AS (
    SELECT min(priority) FROM jobs WHERE status IN ('pending', 'failed')
    UNION ALL
    SELECT (
        SELECT min(jobs.priority) FROM jobs
        WHERE jobs.status IN ('pending', 'failed') AND jobs.priority > levels.priority
    )
    FROM levels WHERE levels.priority IS NOT NULL
)
SELECT
    (SELECT json_group_array(type) FROM job_pauses),
    (SELECT json_group_array(priority) FROM levels WHERE priority IS NOT NULL),
    EXISTS (SELECT 1 FROM jobs WHERE status = 'in_progress' AND lease_until <= ?1);
