-- Insert jobs from one JSON array of rows.
INSERT INTO jobs (id, type, payload, payload_version, scheduled_for, status, dedup_key, priority,
    max_attempts, created_at)
SELECT
    CAST(value ->> 0 AS bigint), value ->> 1, value ->> 2, CAST(value ->> 3 AS bigint),
    CAST(value ->> 4 AS bigint), 'pending', value ->> 5, CAST(value ->> 6 AS bigint),
    CAST(value ->> 7 AS bigint), CAST(value ->> 8 AS bigint)
FROM json_array_elements(CAST(? AS json));
