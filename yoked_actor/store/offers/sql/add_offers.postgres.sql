INSERT INTO offers (
    day, user_id, rank, candidate, score, tier, years_apart, shared, likeness, km, nearness_lost
)
SELECT
    value ->> 0, value ->> 1, CAST(value ->> 2 AS bigint), value ->> 3, CAST(value ->> 4 AS bigint),
    CAST(value ->> 5 AS bigint), CAST(value ->> 6 AS bigint), value ->> 7,
    CAST(value ->> 8 AS bigint), CAST(value ->> 9 AS bigint), CAST(value ->> 10 AS bigint)
FROM json_array_elements(CAST(? AS json));
