INSERT INTO offer_sets (
    day, user_id, zone, offered_at, expires_at, scoring, digest, inputs, stored_at
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);
