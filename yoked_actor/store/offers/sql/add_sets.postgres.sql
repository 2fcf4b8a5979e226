INSERT INTO offer_sets (
    day, user_id, zone, offered_at, expires_at, scoring, digest, inputs, candidates, facts, stored_at
)
SELECT
    value ->> 0, value ->> 1, value ->> 2, CAST(value ->> 3 AS bigint), CAST(value ->> 4 AS bigint),
    value ->> 5, value ->> 6, value ->> 7, value ->> 8, value ->> 9, CAST(value ->> 10 AS bigint)
FROM json_array_elements(CAST(? AS json));
