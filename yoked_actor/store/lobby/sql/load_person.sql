SELECT
    user_id, display_name, birth_date, gender, lat, lon, time_zone, interests, seeking,
    min_age, max_age, max_distance_km, strict, shown_lat, shown_lon,
    shown_at
FROM people
WHERE user_id = ?;
