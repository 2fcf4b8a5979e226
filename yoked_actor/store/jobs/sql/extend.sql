-- Extend leases from a JSON array of (job, fence, done, total, note); the last three are the progress, or
-- NULL. Returns the jobs that still held their lease.
UPDATE jobs SET
    lease_until = max(lease_until, ?3),
    progress_done = iif(held.value ->> 2 IS NULL, progress_done, held.value ->> 2),
    progress_total = iif(held.value ->> 2 IS NULL, progress_total, held.value ->> 3),
    -- A note may name a user who was erased during the run.
    progress_note = iif(
        held.value ->> 2 IS NULL, progress_note, iif(overtaken, NULL, held.value ->> 4)
    )
FROM json_each(?1) AS held
WHERE jobs.id = held.value ->> 0 AND jobs.fence = held.value ->> 1
    AND jobs.status = 'in_progress' AND jobs.lease_until > ?2
RETURNING id, cancel_asked;
