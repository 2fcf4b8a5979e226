-- The users of a JSON array who have no profile.
SELECT value FROM json_array_elements_text(CAST(? AS json))
WHERE NOT EXISTS (SELECT 1 FROM people WHERE user_id = value);
