-- The keys of a JSON array of (type, key) that were used and still count. A key without an outcome whose
-- job is gone does not count.
SELECT k.type, k.key, k.job_id, k.digest
FROM json_array_elements(CAST(?1 AS json)) AS asked (value)
JOIN job_ledger AS k ON k.type = asked.value ->> 0 AND k.key = asked.value ->> 1
WHERE k.outcome IS NOT NULL OR EXISTS (SELECT 1 FROM jobs WHERE jobs.id = k.job_id);
