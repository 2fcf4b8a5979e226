-- Lease the jobs of a JSON array, which this transaction has found due.
UPDATE jobs SET
    status = 'in_progress',
    attempts = attempts + 1,
    fence = fence + 1,
    owner = ?1,
    started_at = ?2,
    lease_until = ?3,
    progress_done = NULL,
    progress_total = NULL,
    progress_note = NULL,
    overtaken = 0
WHERE id IN (SELECT value FROM json_each(?4));
