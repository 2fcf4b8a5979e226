-- Complete the attempts at the jobs of a JSON array, all with one fence, that still hold their lease. A
-- completed job has done all of its total.
UPDATE jobs SET
    status = 'completed', completed_at = ?3, owner = NULL, lease_until = NULL,
    progress_done = coalesce(progress_total, progress_done)
FROM json_array_elements_text(CAST(?1 AS json)) AS done (value)
WHERE jobs.id = CAST(done.value AS bigint) AND jobs.fence = ?2
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?4 AND jobs.cancel_asked = 0;
