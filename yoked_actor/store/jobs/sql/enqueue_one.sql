-- Insert one job.
INSERT INTO jobs (type, payload, payload_version, scheduled_for, status, priority, max_attempts, created_at)
VALUES (?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7);
