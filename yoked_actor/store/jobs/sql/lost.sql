-- The jobs of a JSON array that another owner has claimed and runs.
SELECT id FROM jobs
WHERE id IN (SELECT value FROM json_each(?1)) AND status = 'in_progress' AND owner <> ?2
ORDER BY id;
