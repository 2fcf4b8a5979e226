-- The raised alerts.
SELECT alert, value, threshold, raised_at FROM alerts ORDER BY raised_at, alert;
