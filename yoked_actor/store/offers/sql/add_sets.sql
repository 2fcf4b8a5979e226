INSERT INTO offer_sets (
    day, user_id, zone, offered_at, expires_at, scoring, digest, inputs, candidates, facts, stored_at
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
