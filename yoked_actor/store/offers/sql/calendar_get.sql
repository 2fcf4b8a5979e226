SELECT zone, local_date, scheduled_at, status, job_id, started_at, ended_at, digest
FROM zone_runs
WHERE zone = ? AND local_date = ?;
