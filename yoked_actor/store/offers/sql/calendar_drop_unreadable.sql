DELETE FROM zone_runs
WHERE status = 'planned' AND date(local_date) IS NOT local_date
RETURNING zone
