SELECT
    due.zone,
    due.local_date,
    due.scheduled_at,
    EXISTS (SELECT 1 FROM people WHERE time_zone = due.zone),
    EXISTS (SELECT 1 FROM zone_runs WHERE zone = due.zone AND local_date > due.local_date)
FROM zone_runs AS due
WHERE due.status = 'planned' AND due.scheduled_at <= ?
ORDER BY due.scheduled_at, due.zone
LIMIT ?;
