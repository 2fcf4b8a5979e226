-- What a claim has to know first: the types that are paused, the lanes of waiting jobs, and whether a lease has
-- ended. A lane has the jobs of one priority and type; its first job is found with one step in the index.
WITH RECURSIVE lanes (first_id) AS (
    SELECT (
        SELECT id FROM jobs
        WHERE status IN ('pending', 'failed')
        ORDER BY priority, type, scheduled_for, id
        LIMIT 1
    )
    UNION ALL
    SELECT coalesce(
        (
            SELECT later.id FROM jobs AS later
            WHERE later.status IN ('pending', 'failed')
                AND later.priority = first.priority AND later.type > first.type
            ORDER BY later.type, later.scheduled_for, later.id
            LIMIT 1
        ),
        (
            SELECT later.id FROM jobs AS later
            WHERE later.status IN ('pending', 'failed') AND later.priority > first.priority
            ORDER BY later.priority, later.type, later.scheduled_for, later.id
            LIMIT 1
        )
    )
    FROM lanes JOIN jobs AS first ON first.id = lanes.first_id
)
SELECT
    (SELECT CAST(coalesce(json_agg(type), '[]') AS text) FROM job_pauses),
    (
        SELECT CAST(coalesce(json_agg(json_build_array(first.priority, first.type, first.scheduled_for)), '[]') AS text)
        FROM lanes JOIN jobs AS first ON first.id = lanes.first_id
    ),
    EXISTS (SELECT 1 FROM jobs WHERE status = 'in_progress' AND lease_until <= ?1);
