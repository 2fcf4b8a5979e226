-- The priorities of waiting jobs, with one step in the index for each.
WITH RECURSIVE levels (priority) AS (
    SELECT min(priority) FROM jobs WHERE status IN ('pending', 'failed')
    UNION ALL
    SELECT (
        SELECT min(jobs.priority) FROM jobs
        WHERE jobs.status IN ('pending', 'failed') AND jobs.priority > levels.priority
    )
    FROM levels WHERE levels.priority IS NOT NULL
)
SELECT priority FROM levels WHERE priority IS NOT NULL;
