-- The people in some cells of half a degree, each given once, who live in another zone and are not suspended
-- at an instant. See the index people_by_cell.
SELECT
    p.user_id, p.display_name, p.birth_date, p.gender, p.lat, p.lon, p.time_zone, p.interests,
    p.seeking, p.min_age, p.max_age, p.max_distance_km, p.strict
FROM json_array_elements_text(CAST(:cells AS json)) AS cells (cell)
JOIN people AS p
    ON
        CAST(trunc((p.lat + 90) * 2) AS bigint) * 720 + CAST(trunc((p.lon + 180) * 2) AS bigint) % 720
        = CAST(cells.cell AS bigint)
WHERE
    p.time_zone <> :zone
    AND NOT EXISTS (
        SELECT 1 FROM suspended AS x
        WHERE x.user_id = p.user_id AND (x.until IS NULL OR x.until > :at)
    );
