-- What a zone has planned, and what it has missed that is yet to come.
DELETE FROM zone_runs
WHERE zone = ?1 AND (status = 'planned' OR (status = 'missed' AND scheduled_at > ?2));
