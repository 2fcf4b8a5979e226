-- The people in some cells of half a degree who live in another zone and are not suspended at an instant.
-- See the index people_by_cell.
SELECT
    p.user_id, p.display_name, p.birth_date, p.gender, p.lat, p.lon, p.time_zone, p.interests,
    p.seeking, p.min_age, p.max_age, p.max_distance_km, p.strict
FROM people AS p
WHERE
    CAST((p.lat + 90) * 2 AS INTEGER) * 720 + CAST((p.lon + 180) * 2 AS INTEGER) % 720
    IN (SELECT value FROM json_each(:cells))
    AND p.time_zone <> :zone
    AND NOT EXISTS (
        SELECT 1 FROM suspended AS x
        WHERE x.user_id = p.user_id AND (x.until IS NULL OR x.until > :at)
    );
