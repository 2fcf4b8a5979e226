-- Insert sets from a JSON array of rows. The first of a user and day stands, and one too soon before or
-- after another is refused (R41). Returns whose were stored.
WITH n AS (
    SELECT
        value ->> 0 AS day, value ->> 1 AS user_id, value ->> 2 AS zone,
        CAST(value ->> 3 AS bigint) AS offered_at, CAST(value ->> 4 AS bigint) AS expires_at,
        value ->> 5 AS scoring, value ->> 6 AS digest, value ->> 7 AS inputs
    FROM json_array_elements(CAST(:sets AS json))
)
INSERT INTO offer_sets (
    day, user_id, zone, offered_at, expires_at, scoring, digest, inputs, stored_at
)
SELECT
    n.day, n.user_id, n.zone, n.offered_at, n.expires_at, n.scoring, n.digest, n.inputs,
    CAST(:now AS bigint)
FROM n
WHERE
    NOT EXISTS (
        SELECT 1 FROM offer_sets AS s
        WHERE
            s.user_id = n.user_id
            AND s.offered_at > n.offered_at - :apart
            AND s.offered_at < n.offered_at + :apart
    )
ON CONFLICT DO NOTHING
RETURNING day, user_id;
