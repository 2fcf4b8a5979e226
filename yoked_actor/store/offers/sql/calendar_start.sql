-- A date that was started or is done is never started again: then no row is written.
INSERT INTO zone_runs (zone, local_date, scheduled_at, status, started_at, job_id)
VALUES (?1, ?2, ?3, 'started', ?4, ?5)
ON CONFLICT (zone, local_date) DO UPDATE SET
    status = 'started', started_at = excluded.started_at, ended_at = NULL, job_id = excluded.job_id
WHERE zone_runs.status IN ('planned', 'missed');
