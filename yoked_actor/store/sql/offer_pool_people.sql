-- Who lives in some cells of half a degree, and not in a zone. See the index people_by_cell.
SELECT
    user_id, display_name, birth_date, gender, lat, lon, time_zone, interests, seeking,
    min_age, max_age, max_distance_km
FROM people
WHERE
    CAST((lat + 90) * 2 AS INTEGER) * 720 + CAST((lon + 180) * 2 AS INTEGER) % 720
    IN (SELECT value FROM json_each(?))
    AND time_zone <> ?;
