-- The jobs of a JSON array that another owner has claimed and runs.
SELECT id FROM jobs
WHERE id IN (SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST(?1 AS json)))
    AND status = 'in_progress' AND owner <> ?2
ORDER BY id;
