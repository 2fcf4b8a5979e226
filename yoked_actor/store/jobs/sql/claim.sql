-- Lease due jobs of one priority and one type. Returns the columns that the caller does not know.
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
WHERE id IN (
    SELECT due.id FROM jobs AS due
    WHERE due.status IN ('pending', 'failed') AND due.priority = ?4 AND due.type = ?6
        AND due.scheduled_for <= ?2
    ORDER BY due.scheduled_for, due.id
    LIMIT ?5
)
RETURNING
    id, type, payload, payload_version, scheduled_for, attempts, fence, last_error, dedup_key, cancel_asked,
    created_at, max_attempts;
