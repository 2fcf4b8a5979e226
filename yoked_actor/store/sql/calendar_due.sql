SELECT zone, local_date, scheduled_at
FROM zone_runs
WHERE status = 'planned' AND scheduled_at <= ?
ORDER BY scheduled_at, zone
LIMIT ?;
