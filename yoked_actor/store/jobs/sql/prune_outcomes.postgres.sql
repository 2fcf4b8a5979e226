-- Store the outcome of these jobs with their keys, before the jobs are deleted.
UPDATE job_ledger SET outcome = jobs.status, ended_at = jobs.completed_at
FROM json_array_elements_text(CAST(?1 AS json)) AS gone (value)
JOIN jobs ON jobs.id = CAST(gone.value AS bigint)
WHERE job_ledger.type = jobs.type AND job_ledger.key = jobs.dedup_key AND job_ledger.job_id = jobs.id;
