-- Sets, each with its offers and their answers as a JSON array in the order of rank.
SELECT
    s.day, s.user_id, s.zone, s.offered_at, s.expires_at, s.scoring, s.digest, s.delivered_at,
    s.deliveries,
    (
        SELECT
            CAST(
                coalesce(
                    json_agg(
                        json_build_array(
                            o.candidate, o.score, o.tier, o.years_apart, o.shared, o.likeness, o.km,
                            o.nearness_lost, w.answer
                        )
                        ORDER BY o.rank
                    ),
                    '[]'
                ) AS text
            )
        FROM offers AS o
        LEFT JOIN offer_answers AS w
            ON w.user_id = o.user_id AND w.candidate = o.candidate AND w.day = o.day
        WHERE o.day = s.day AND o.user_id = s.user_id
    ),
    s.erased, s.inputs
FROM offer_sets AS s
