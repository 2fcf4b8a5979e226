-- Insert keys. A key that is replaced does not count any more: its job is gone and left no outcome.
INSERT OR REPLACE INTO job_ledger (type, key, job_id, digest)
VALUES (?, ?, ?, ?);
