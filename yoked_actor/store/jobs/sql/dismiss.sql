-- Dismiss a dead letter.
UPDATE jobs SET dismissed_at = ?2, dismissed_by = ?3, dismissed_reason = ?4
WHERE id = ?1 AND status = 'dead_letter' AND dismissed_at IS NULL;
