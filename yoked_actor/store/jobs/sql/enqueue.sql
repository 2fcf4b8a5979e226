INSERT INTO jobs (id, type, payload, payload_version, scheduled_for, status, dedup_key, priority,
    max_attempts, created_at)
VALUES (?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?);
