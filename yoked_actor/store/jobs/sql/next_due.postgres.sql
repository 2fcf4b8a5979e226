-- When the next waiting job is due, or the next lease ends. ?1 is a JSON array of types, or NULL for all.
-- ?2 is the difference from the scale of leases to the time of day.
WITH RECURSIVE levels (priority) AS (
    SELECT min(priority) FROM jobs WHERE status IN ('pending', 'failed')
    UNION ALL
    SELECT (
        SELECT min(jobs.priority) FROM jobs
        WHERE jobs.status IN ('pending', 'failed') AND jobs.priority > levels.priority
    )
    FROM levels WHERE levels.priority IS NOT NULL
),
instants (at) AS (
    SELECT (
        SELECT jobs.scheduled_for FROM jobs
        WHERE jobs.status IN ('pending', 'failed') AND jobs.priority = levels.priority
            AND (CAST(?1 AS text) IS NULL OR jobs.type
            IN (SELECT value FROM json_array_elements_text(CAST(?1 AS json))))
        ORDER BY jobs.scheduled_for LIMIT 1
    )
    FROM levels WHERE levels.priority IS NOT NULL
    UNION ALL
    SELECT (
        SELECT lease_until + CAST(?2 AS bigint) FROM jobs
        WHERE status = 'in_progress'
            AND (CAST(?1 AS text) IS NULL OR type
            IN (SELECT value FROM json_array_elements_text(CAST(?1 AS json))))
        ORDER BY lease_until LIMIT 1
    )
)
SELECT min(at) FROM instants;
