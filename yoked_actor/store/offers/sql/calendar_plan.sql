INSERT INTO zone_runs (zone, local_date, scheduled_at, status) VALUES (?, ?, ?, 'planned');
