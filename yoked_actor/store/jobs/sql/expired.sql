-- Running jobs whose lease has ended. ?2 is a JSON array of types, or NULL for all.
SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until,
    last_error, dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts
FROM jobs
WHERE status = 'in_progress' AND lease_until <= ?1
    AND (?2 IS NULL OR type IN (SELECT value FROM json_each(?2)))
ORDER BY lease_until, id
LIMIT ?3;
