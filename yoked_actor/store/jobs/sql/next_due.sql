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
    FROM lanes CROSS JOIN jobs AS first ON first.id = lanes.first_id
),
instants (at) AS (
    SELECT first.scheduled_for
    FROM lanes CROSS JOIN jobs AS first ON first.id = lanes.first_id
    WHERE ?1 IS NULL OR first.type IN (SELECT value FROM json_each(?1))
    UNION ALL
    SELECT (
        SELECT lease_until + ?2 FROM jobs
        WHERE status = 'in_progress'
            AND (?1 IS NULL OR type IN (SELECT value FROM json_each(?1)))
        ORDER BY lease_until LIMIT 1
    )
)
SELECT min(at) FROM instants;
