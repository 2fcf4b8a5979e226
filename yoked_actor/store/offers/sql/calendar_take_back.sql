-- Delete the planned run of a zone, and its missed runs of the future.
DELETE FROM zone_runs
WHERE zone = ?1 AND (status = 'planned' OR (status = 'missed' AND scheduled_at > ?2));
