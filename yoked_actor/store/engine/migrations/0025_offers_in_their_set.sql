-- The offers of a set are two JSON arrays in its row, the best offer first: who was offered, and the facts of each.
-- A set is written, read and deleted as one, and a morning writes a hundred thousand of them.
ALTER TABLE offer_sets ADD COLUMN candidates TEXT NOT NULL DEFAULT '[]'
    CHECK (instr(candidates, '"' || user_id || '"') = 0); -- nobody is offered to themselves
-- Of each: score, tier, years apart, shared tags, likeness, km, nearness lost.
ALTER TABLE offer_sets ADD COLUMN facts TEXT NOT NULL DEFAULT '[]';

UPDATE offer_sets SET (candidates, facts) = (
    SELECT json_group_array(candidate), json_group_array(json(facts))
    FROM (
        SELECT
            o.candidate,
            json_array(
                o.score, o.tier, o.years_apart, json(CASE WHEN json_valid(o.shared) THEN o.shared ELSE 'null' END),
                o.likeness, o.km, o.nearness_lost
            ) AS facts
        FROM offers AS o
        WHERE o.day = offer_sets.day AND o.user_id = offer_sets.user_id
        ORDER BY o.rank
    )
);
DROP TABLE offers;

-- For queries: a row for each offer. A set whose arrays are damaged has none here.
CREATE VIEW offers AS
SELECT
    s.day, s.user_id, c.key + 1 AS rank, c.value AS candidate,
    f.value ->> 0 AS score, f.value ->> 1 AS tier, f.value ->> 2 AS years_apart, f.value -> 3 AS shared,
    f.value ->> 4 AS likeness, f.value ->> 5 AS km, f.value ->> 6 AS nearness_lost
FROM offer_sets AS s
JOIN json_each(CASE WHEN json_valid(s.candidates) THEN s.candidates ELSE '[]' END) AS c
JOIN json_each(CASE WHEN json_valid(s.facts) THEN s.facts ELSE '[]' END) AS f ON f.key = c.key;
