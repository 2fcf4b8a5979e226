-- Insert keys from a JSON array of (type, key, job, digest). A key that is replaced does not count any
-- more: its job is gone and left no outcome.
INSERT OR REPLACE INTO job_ledger (type, key, job_id, digest)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1);
