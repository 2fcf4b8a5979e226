-- The candidates that each of some users was offered from a day to another, as a JSON array. No set of these
-- days was made before :since.
SELECT
    r.value,
    (
        SELECT json_group_array(o.candidate)
        FROM offer_sets AS s
        JOIN offers AS o ON o.day = s.day AND o.user_id = s.user_id
        WHERE s.user_id = r.value AND s.offered_at >= :since AND s.day BETWEEN :first AND :last
    )
FROM json_each(:people) AS r;
