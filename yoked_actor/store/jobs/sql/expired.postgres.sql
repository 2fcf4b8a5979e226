-- Running jobs whose lease has ended. ?2 is a JSON array of types, or NULL for all. Jobs that another
-- process rescues or completes at this moment are left to it.
SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until,
    last_error, dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts
FROM jobs
WHERE status = 'in_progress' AND lease_until <= ?1
    AND (CAST(?2 AS text) IS NULL OR type IN (SELECT value FROM json_array_elements_text(CAST(?2 AS json))))
ORDER BY lease_until, id
LIMIT ?3
FOR UPDATE SKIP LOCKED;
