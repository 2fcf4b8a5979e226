-- The cards of the users of a JSON array who have a profile.
SELECT user_id, display_name, birth_date, gender, interests FROM people
WHERE user_id IN (SELECT value FROM json_array_elements_text(CAST(? AS json)));
