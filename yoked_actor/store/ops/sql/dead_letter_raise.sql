-- News of dead letters: an alert stands from now on, or counts more.
INSERT INTO dead_letter_alerts (type, kind, count, job_id, raised_at) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (type, kind) DO UPDATE SET count = count + excluded.count;
