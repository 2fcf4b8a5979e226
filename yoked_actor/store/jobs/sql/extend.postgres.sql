-- Extend leases from a JSON array of (job, fence, done, total, note); the last three are the progress, or
-- NULL. Returns the jobs that still held their lease.
UPDATE jobs SET
    lease_until = greatest(lease_until, ?3),
    progress_done = CASE
        WHEN held.value ->> 2 IS NULL THEN progress_done ELSE CAST(held.value ->> 2 AS bigint)
    END,
    progress_total = CASE
        WHEN held.value ->> 2 IS NULL THEN progress_total ELSE CAST(held.value ->> 3 AS bigint)
    END,
    -- A note may name a user who was erased during the run.
    progress_note = CASE
        WHEN held.value ->> 2 IS NULL THEN progress_note WHEN overtaken = 0 THEN held.value ->> 4
    END
FROM json_array_elements(CAST(?1 AS json)) AS held (value)
WHERE jobs.id = CAST(held.value ->> 0 AS bigint) AND jobs.fence = CAST(held.value ->> 1 AS bigint)
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?2
RETURNING jobs.id, jobs.cancel_asked;
