-- The warnings that the users of a JSON array have not seen, oldest first.
SELECT number, user_id, at, by, text, seen_at FROM warnings
WHERE seen_at IS NULL AND user_id IN (SELECT value FROM json_each(?))
ORDER BY number;
