-- Of the keys in a JSON array of (type, key): those that were used, and whether that still counts.
-- A key without an outcome whose job is gone counts for nothing.
SELECT k.type, k.key, k.job_id, k.digest
FROM json_each(?1) AS asked
JOIN job_ledger AS k ON k.type = asked.value ->> 0 AND k.key = asked.value ->> 1
WHERE k.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM jobs WHERE jobs.id = k.job_id);
