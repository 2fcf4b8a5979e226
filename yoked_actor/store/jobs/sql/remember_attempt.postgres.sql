-- Store an attempt that is about to end without success.
INSERT INTO job_attempts (job_id, fence, attempt, owner, started_at, ended_at, cause, error)
SELECT id, fence, attempts, owner, started_at, CAST(?3 AS BIGINT), ?4, ?5 FROM jobs
WHERE id = ?1 AND fence = ?2 AND status = 'in_progress' AND (CAST(?6 AS INTEGER) = 1 OR lease_until > ?7)
FOR UPDATE;
