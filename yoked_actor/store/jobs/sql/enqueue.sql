-- Insert jobs from one JSON array of rows.
INSERT INTO jobs (id, type, payload, payload_version, scheduled_for, status, dedup_key, priority,
    max_attempts, created_at)
SELECT
    value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, 'pending', value ->> 5, value ->> 6,
    value ->> 7, ?2
FROM json_each(?1);
