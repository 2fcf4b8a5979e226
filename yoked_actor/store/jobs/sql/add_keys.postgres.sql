-- Insert keys from a JSON array of (type, key, job, digest). A key that is replaced does not count any
-- more: its job is gone and left no outcome.
INSERT INTO job_ledger (type, key, job_id, digest)
SELECT value ->> 0, value ->> 1, CAST(value ->> 2 AS bigint), value ->> 3
FROM json_array_elements(CAST(? AS json))
ON CONFLICT (type, key) DO UPDATE SET
    job_id = excluded.job_id, digest = excluded.digest, outcome = NULL, ended_at = NULL;
