INSERT INTO offers (
    day, user_id, rank, candidate, score, tier, years_apart, shared, likeness, km, nearness_lost
)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
