-- A date that has been started, or is done, is never started again: then nothing is written.
INSERT INTO zone_runs (zone, local_date, scheduled_at, status, started_at)
VALUES (?1, ?2, ?3, 'started', ?4)
ON CONFLICT DO UPDATE SET status = 'started', started_at = excluded.started_at, ended_at = NULL
WHERE status IN ('planned', 'missed');
