INSERT INTO zone_runs (zone, local_date, scheduled_at, status, ended_at)
VALUES (?1, ?2, ?3, 'missed', ?4)
ON CONFLICT (zone, local_date) DO UPDATE SET status = 'missed', ended_at = excluded.ended_at
WHERE zone_runs.status = 'planned';
