-- Complete the attempts in a JSON array of (job, fence) that still hold their lease. A completed job has
-- done all of its total.
UPDATE jobs SET
    status = 'completed', completed_at = ?2, owner = NULL, lease_until = NULL,
    progress_done = coalesce(progress_total, progress_done)
FROM json_each(?1) AS done
WHERE jobs.id = done.value ->> 0 AND jobs.fence = done.value ->> 1
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?3 AND jobs.cancel_asked = 0;
