-- The candidates that each of some users was offered from a day to another, as a JSON array. No set of these
-- days was made before :since.
SELECT
    r.value,
    (
        SELECT CAST(coalesce(json_agg(c.value), '[]') AS text)
        FROM offer_sets AS s
        CROSS JOIN LATERAL json_array_elements_text(
            CAST(CASE WHEN s.candidates LIKE '[%' AND json_valid(s.candidates) THEN s.candidates ELSE '[]' END AS json)
        ) AS c (value)
        WHERE c.value IS NOT NULL AND s.user_id = r.value AND s.offered_at >= :since AND s.day BETWEEN :first AND :last
    )
FROM json_array_elements_text(CAST(:people AS json)) AS r (value);
