-- The raised alerts about dead letters.
SELECT type, kind, count, job_id, raised_at FROM dead_letter_alerts ORDER BY raised_at, type, kind;
