-- Keys from a JSON array of (type, key, job, digest). What stands there already counts for nothing, or it
-- would not be replaced.
INSERT OR REPLACE INTO job_ledger (type, key, job_id, digest)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?1);
