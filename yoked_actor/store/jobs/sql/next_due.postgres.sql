-- When the next waiting job is due, found among the first jobs of each priority and type, or the next lease ends.
-- ?1 is a JSON array of types, or NULL for all. ?2 is the difference from the scale of leases to the time of day.
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
),
instants (at) AS (
    SELECT first.scheduled_for
    FROM lanes JOIN jobs AS first ON first.id = lanes.first_id
    WHERE CAST(?1 AS text) IS NULL
        OR first.type IN (SELECT value FROM json_array_elements_text(CAST(?1 AS json)))
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
