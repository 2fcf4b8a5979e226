-- Run a job from the start: attempts begin at 0, the fence does not. A dismissal ends.
UPDATE jobs SET
    status = 'pending', attempts = 0, scheduled_for = ?2, completed_at = NULL, cancel_asked = 0,
    progress_done = NULL, progress_total = NULL, progress_note = NULL,
    dismissed_at = NULL, dismissed_by = NULL, dismissed_reason = NULL
WHERE id = ?1;
