-- Insert sets from a JSON array of rows. The first of a user and day stands, and one too soon before or
-- after another is refused (R41). Returns whose were stored.
INSERT INTO offer_sets (
    day, user_id, zone, offered_at, expires_at, scoring, digest, inputs, stored_at
)
SELECT
    n.value ->> 0, n.value ->> 1, n.value ->> 2, n.value ->> 3, n.value ->> 4, n.value ->> 5,
    n.value ->> 6, n.value ->> 7, :now
FROM json_each(:sets) AS n
WHERE
    NOT EXISTS (
        SELECT 1 FROM offer_sets AS s
        WHERE
            s.user_id = n.value ->> 1
            AND s.offered_at > (n.value ->> 3) - :apart
            AND s.offered_at < (n.value ->> 3) + :apart
    )
ON CONFLICT DO NOTHING
RETURNING day, user_id;
