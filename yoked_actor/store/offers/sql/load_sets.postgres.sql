-- Sets, each with its offers, and with those of them that were answered as a JSON array.
SELECT
    s.day, s.user_id, s.zone, s.offered_at, s.expires_at, s.scoring, s.digest, s.delivered_at,
    s.deliveries, s.candidates, s.facts,
    (
        SELECT CAST(coalesce(json_agg(json_build_array(w.candidate, w.answer)), '[]') AS text)
        FROM
            json_array_elements_text(
                CAST(CASE WHEN s.candidates LIKE '[%' AND json_valid(s.candidates) THEN s.candidates ELSE '[]' END AS json)
            ) AS c (candidate)
        JOIN offer_answers AS w
            ON w.user_id = s.user_id AND w.candidate = c.candidate AND w.day = s.day
    ),
    s.erased, s.inputs
FROM offer_sets AS s
