-- The people of a zone who are not suspended at an instant, and whether a set of theirs is too near that
-- instant (R41).
SELECT
    p.user_id, p.display_name, p.birth_date, p.gender, p.lat, p.lon, p.time_zone, p.interests,
    p.seeking, p.min_age, p.max_age, p.max_distance_km, p.strict,
    EXISTS (
        SELECT 1 FROM offer_sets AS s
        WHERE
            s.user_id = p.user_id
            AND (s.day = :day OR (s.offered_at > CAST(:at AS BIGINT) - :apart AND s.offered_at < CAST(:at AS BIGINT) + :apart))
    )
FROM people AS p
WHERE
    p.time_zone = :zone
    AND NOT EXISTS (
        SELECT 1 FROM suspended AS x
        WHERE x.user_id = p.user_id AND (x.until IS NULL OR x.until > :at)
    );
