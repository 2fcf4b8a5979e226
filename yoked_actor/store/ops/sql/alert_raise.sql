-- Raise an alert.
INSERT INTO alerts (alert, value, threshold, raised_at) VALUES (?, ?, ?, ?)
ON CONFLICT (alert) DO UPDATE
SET value = excluded.value, threshold = excluded.threshold, raised_at = excluded.raised_at;
