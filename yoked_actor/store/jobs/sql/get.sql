SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until,
    last_error, dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts,
    progress_done, progress_total, progress_note, dismissed_at, dismissed_by, dismissed_reason
FROM jobs WHERE id = ?1;
