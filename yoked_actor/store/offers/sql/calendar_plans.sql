SELECT zone, local_date, scheduled_at FROM zone_runs WHERE status = 'planned' ORDER BY zone;
