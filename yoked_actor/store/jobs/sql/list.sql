-- Jobs, newest first. NULL leaves a condition out.
SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until,
    last_error, dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts,
    progress_done, progress_total, progress_note, dismissed_at, dismissed_by, dismissed_reason
FROM jobs
WHERE (CAST(?1 AS TEXT) IS NULL OR status = ?1)
    AND (CAST(?2 AS TEXT) IS NULL OR type = ?2)
    AND (CAST(?3 AS BIGINT) IS NULL OR id < ?3)
    AND (
        CAST(?5 AS INTEGER) IS NULL
        OR CASE WHEN dismissed_at IS NULL THEN 0 ELSE 1 END = CAST(?5 AS INTEGER)
    )
    AND (
        CAST(?6 AS TEXT) IS NULL
        OR instr(payload, ?6) > 0
        OR instr(coalesce(dedup_key, ''), ?6) > 0
    )
ORDER BY id DESC
LIMIT ?4;
