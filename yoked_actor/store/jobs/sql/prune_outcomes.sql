-- Store the outcome of these jobs with their keys, before the jobs are deleted.
UPDATE job_ledger SET outcome = jobs.status, ended_at = jobs.completed_at
FROM json_each(?1) AS gone
JOIN jobs ON jobs.id = gone.value
WHERE job_ledger.type = jobs.type AND job_ledger.key = jobs.dedup_key AND job_ledger.job_id = jobs.id;
