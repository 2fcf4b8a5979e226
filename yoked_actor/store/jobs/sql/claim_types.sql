-- Lease due jobs of one priority and several types; ?6 is a JSON array. Of each type no more are read than are
-- wanted in all. Returns the columns that the caller does not know.
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
    SELECT due.id
    FROM json_each(?6) AS types
    CROSS JOIN jobs AS due ON due.id IN (
        SELECT first.id FROM jobs AS first
        WHERE first.status IN ('pending', 'failed') AND first.priority = ?4 AND first.type = types.value
            AND first.scheduled_for <= ?2
        ORDER BY first.scheduled_for, first.id
        LIMIT ?5
    )
    ORDER BY due.scheduled_for, due.id
    LIMIT ?5
)
RETURNING
    id, type, payload, payload_version, scheduled_for, attempts, fence, last_error, dedup_key, cancel_asked,
    created_at, max_attempts;
