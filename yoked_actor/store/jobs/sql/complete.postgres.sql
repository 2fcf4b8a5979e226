-- Complete the attempts in a JSON array of (job, fence) that still hold their lease. A completed job has
-- done all of its total.
UPDATE jobs SET
    status = 'completed', completed_at = ?2, owner = NULL, lease_until = NULL,
    progress_done = coalesce(progress_total, progress_done)
FROM json_array_elements(CAST(?1 AS json)) AS done (value)
WHERE jobs.id = CAST(done.value ->> 0 AS bigint) AND jobs.fence = CAST(done.value ->> 1 AS bigint)
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?3 AND jobs.cancel_asked = 0;
