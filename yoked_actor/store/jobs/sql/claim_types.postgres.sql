-- Lease due jobs of one priority and several types; ?6 is a JSON array. Of each type no more are read than are
-- wanted in all. Jobs that another process claims or changes at this moment are left to it. Returns the columns
-- that the caller does not know.
WITH due AS MATERIALIZED (
    SELECT first.id
    FROM json_array_elements_text(CAST(?6 AS json)) AS types (value)
    CROSS JOIN LATERAL (
        SELECT jobs.id, jobs.scheduled_for FROM jobs
        WHERE jobs.status IN ('pending', 'failed') AND jobs.priority = ?4 AND jobs.type = types.value
            AND jobs.scheduled_for <= ?2
        ORDER BY jobs.scheduled_for, jobs.id
        LIMIT ?5
        FOR UPDATE SKIP LOCKED
    ) AS first
    ORDER BY first.scheduled_for, first.id
    LIMIT ?5
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
