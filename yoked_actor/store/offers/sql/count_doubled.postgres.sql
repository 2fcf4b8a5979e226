-- How many offers of a run repeat an offer to the same user on one of some days. It must be 0.
SELECT
    coalesce(
        sum(
            (
                SELECT coalesce(sum(c.times), 0)
                FROM (
                    SELECT count(*) - 1 AS times
                    FROM json_array_elements_text(CAST(:days AS json)) AS d (value)
                    JOIN offer_sets AS o ON o.day = d.value AND o.user_id = s.user_id
                    CROSS JOIN LATERAL json_array_elements_text(
                        CAST(CASE WHEN o.candidates LIKE '[%' AND json_valid(o.candidates) THEN o.candidates ELSE '[]' END AS json)
                    ) AS c (value)
                    GROUP BY c.value
                    HAVING count(*) > 1 AND max(o.day) = :day
                ) AS c
            )
        ),
        0
    )
FROM offer_sets AS s
WHERE s.day = :day AND s.zone = :zone;
