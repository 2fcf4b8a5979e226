-- Complete the attempts at the jobs of a JSON array, all with one fence, that still hold their lease. A
-- completed job has done all of its total.
UPDATE jobs SET
    status = 'completed', completed_at = ?3, owner = NULL, lease_until = NULL,
    progress_done = coalesce(progress_total, progress_done)
WHERE id IN (SELECT value FROM json_each(?1)) AND fence = ?2
    AND status = 'in_progress' AND lease_until > ?4 AND cancel_asked = 0;
