-- Jobs, newest first. NULL leaves a condition out.
SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until,
    last_error, dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts,
    progress_done, progress_total, progress_note, dismissed_at, dismissed_by, dismissed_reason
FROM jobs
WHERE (?1 IS NULL OR status = ?1) AND (?2 IS NULL OR type = ?2) AND (?3 IS NULL OR id < ?3)
    AND (?5 IS NULL OR (dismissed_at IS NOT NULL) = ?5)
    AND (?6 IS NULL OR instr(payload, ?6) > 0 OR instr(coalesce(dedup_key, ''), ?6) > 0)
ORDER BY id DESC
LIMIT ?4;
