-- Lease due jobs of one priority and one type. Jobs that another process claims or changes at this moment are
-- left to it. Returns the columns that the caller does not know.
WITH due AS MATERIALIZED (
    SELECT id FROM jobs
    WHERE status IN ('pending', 'failed') AND priority = ?4 AND type = ?6 AND scheduled_for <= ?2
    ORDER BY scheduled_for, id
    LIMIT ?5
    FOR UPDATE SKIP LOCKED
)
UPDATE jobs SET
    status = 'in_progress',
    attempts = attempts + 1,
    fence = fence + 1,
    owner = ?1,
    started_at = ?2,
    lease_until = ?3,
    progress_done = NULL,
    progress_total = NULL,
    progress_note = NULL,
    overtaken = 0
FROM due
WHERE jobs.id = due.id
RETURNING
    jobs.id, type, payload, payload_version, scheduled_for, attempts, fence, last_error, dedup_key, cancel_asked,
    created_at, max_attempts;
