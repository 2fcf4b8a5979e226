-- The users of a JSON array who have no profile.
SELECT value FROM json_each(?)
WHERE NOT EXISTS (SELECT 1 FROM people WHERE user_id = value);
