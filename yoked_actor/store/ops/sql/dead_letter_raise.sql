-- Raise an alert about dead letters, or add to the one that is raised.
INSERT INTO dead_letter_alerts (type, kind, count, job_id, raised_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (type, kind) DO UPDATE SET count = dead_letter_alerts.count + excluded.count;
