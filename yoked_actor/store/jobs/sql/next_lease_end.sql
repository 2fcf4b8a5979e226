-- When the next lease ends. ?1 is a JSON array of types, or NULL for all.
SELECT lease_until FROM jobs
WHERE status = 'in_progress' AND (?1 IS NULL OR type IN (SELECT value FROM json_each(?1)))
ORDER BY lease_until
LIMIT 1;
