INSERT INTO offers (
    day, user_id, rank, candidate, score, tier, years_apart, shared, likeness, km, nearness_lost
)
SELECT
    value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
    value -> 7, value ->> 8, value ->> 9, value ->> 10
FROM json_each(?);
