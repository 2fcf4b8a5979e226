-- The candidates that each of some users was offered from a day to another, as a JSON array. No set of these
-- days was made before :since.
SELECT
    r.value,
    (
        SELECT json_group_array(c.value)
        FROM offer_sets AS s
        JOIN json_each(CASE WHEN json_valid(s.candidates) THEN s.candidates ELSE '[]' END) AS c
        WHERE c.type = 'text' AND s.user_id = r.value AND s.offered_at >= :since AND s.day BETWEEN :first AND :last
    )
FROM json_each(:people) AS r;
