-- Forget keys whose job is gone and had ended before an instant.
DELETE FROM job_ledger WHERE (type, key) IN (
    SELECT type, key FROM job_ledger WHERE ended_at < ?1 ORDER BY ended_at LIMIT ?2
);
