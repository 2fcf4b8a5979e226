-- When the next lease ends. ?1 is a JSON array of types, or NULL for all.
SELECT lease_until FROM jobs
WHERE status = 'in_progress'
    AND (CAST(?1 AS text) IS NULL OR type IN (SELECT value FROM json_array_elements_text(CAST(?1 AS json))))
ORDER BY lease_until
LIMIT 1;
