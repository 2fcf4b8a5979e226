-- Sets, each with its offers and their answers as a JSON array in the order of rank.
SELECT
    s.day, s.user_id, s.zone, s.offered_at, s.expires_at, s.scoring, s.digest, s.delivered_at,
    s.deliveries,
    (
        SELECT
            json_group_array(
                json_array(
                    candidate, score, tier, years_apart, shared, likeness, km, nearness_lost,
                    answer
                )
            )
        FROM (
            SELECT o.*, w.answer
            FROM offers AS o
            LEFT JOIN offer_answers AS w
                ON w.user_id = o.user_id AND w.candidate = o.candidate AND w.day = o.day
            WHERE o.day = s.day AND o.user_id = s.user_id
            ORDER BY o.rank
        )
    ),
    s.erased, s.inputs
FROM offer_sets AS s
