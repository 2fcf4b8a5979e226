INSERT INTO people (
    user_id, display_name, birth_date, gender, lat, lon, time_zone, interests, seeking,
    min_age, max_age, max_distance_km, strict, shown_lat, shown_lon, shown_at
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (user_id) DO UPDATE SET
    display_name = excluded.display_name,
    birth_date = excluded.birth_date,
    gender = excluded.gender,
    lat = excluded.lat,
    lon = excluded.lon,
    time_zone = excluded.time_zone,
    interests = excluded.interests,
    seeking = excluded.seeking,
    min_age = excluded.min_age,
    max_age = excluded.max_age,
    max_distance_km = excluded.max_distance_km,
    strict = excluded.strict,
    shown_lat = excluded.shown_lat,
    shown_lon = excluded.shown_lon,
    shown_at = excluded.shown_at;
