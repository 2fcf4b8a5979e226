-- The profiles of a JSON array of user ids, without users who are suspended now.
SELECT
    p.user_id, p.display_name, p.birth_date, p.gender, p.lat, p.lon, p.time_zone, p.interests,
    p.seeking, p.min_age, p.max_age, p.max_distance_km, p.strict, p.shown_lat, p.shown_lon,
    p.shown_at
FROM json_array_elements_text(CAST(:users AS json)) AS wanted (value)
JOIN people AS p ON p.user_id = wanted.value
WHERE
    NOT EXISTS (
        SELECT 1 FROM suspended AS x
        WHERE x.user_id = p.user_id AND (x.until IS NULL OR x.until > :now)
    );
