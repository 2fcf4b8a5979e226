-- The users of a JSON array who get no set of this day: they have one, or one too soon before or after it
-- (R41).
SELECT n.value FROM json_array_elements_text(CAST(:users AS json)) AS n (value)
WHERE
    EXISTS (SELECT 1 FROM offer_sets AS s WHERE s.day = :day AND s.user_id = n.value)
    OR EXISTS (
        SELECT 1 FROM offer_sets AS s
        WHERE
            s.user_id = n.value
            AND s.offered_at > CAST(:offered_at AS bigint) - :apart
            AND s.offered_at < CAST(:offered_at AS bigint) + :apart
    );
