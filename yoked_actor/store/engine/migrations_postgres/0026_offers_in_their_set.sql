-- See 0025_offers_in_their_set.sql of SQLite.
ALTER TABLE offer_sets ADD COLUMN candidates text COLLATE "C" NOT NULL DEFAULT '[]',
ADD COLUMN facts text COLLATE "C" NOT NULL DEFAULT '[]',
ADD CHECK (strpos(candidates, '"' || user_id || '"') = 0);

UPDATE offer_sets SET candidates = m.candidates, facts = m.facts
FROM (
    SELECT
        day, user_id,
        CAST(json_agg(candidate ORDER BY rank) AS text) AS candidates,
        CAST(
            json_agg(
                json_build_array(
                    score, tier, years_apart, CASE WHEN json_valid(shared) THEN CAST(shared AS json) END, likeness, km,
                    nearness_lost
                )
                ORDER BY rank
            ) AS text
        ) AS facts
    FROM offers
    GROUP BY day, user_id
) AS m
WHERE m.day = offer_sets.day AND m.user_id = offer_sets.user_id;
DROP TABLE offers;

CREATE VIEW offers AS
SELECT
    s.day, s.user_id, c.number AS rank, c.candidate,
    CAST(f.value ->> 0 AS bigint) AS score, CAST(f.value ->> 1 AS bigint) AS tier,
    CAST(f.value ->> 2 AS bigint) AS years_apart, CAST(f.value -> 3 AS text) AS shared,
    CAST(f.value ->> 4 AS bigint) AS likeness, CAST(f.value ->> 5 AS bigint) AS km,
    CAST(f.value ->> 6 AS bigint) AS nearness_lost
FROM offer_sets AS s
CROSS JOIN LATERAL json_array_elements_text(
    CAST(CASE WHEN s.candidates LIKE '[%' AND json_valid(s.candidates) THEN s.candidates ELSE '[]' END AS json)
) WITH ORDINALITY AS c (candidate, number)
CROSS JOIN LATERAL json_array_elements(
    CAST(CASE WHEN s.facts LIKE '[%' AND json_valid(s.facts) THEN s.facts ELSE '[]' END AS json)
) WITH ORDINALITY AS f (value, number)
WHERE f.number = c.number;
