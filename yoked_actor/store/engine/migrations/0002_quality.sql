-- How good each match was when it was made (R23): what the operator's report on waits and tiers is
-- made from. It names no user: a match's number, and of each side the kind of wish, the tier and the wait.

CREATE TABLE quality (
    match_number INTEGER PRIMARY KEY,
    paired_at INTEGER NOT NULL,
    policy TEXT NOT NULL,
    priority INTEGER NOT NULL,
    preference_match REAL NOT NULL,
    distance_score REAL NOT NULL,
    distance_km REAL NOT NULL,
    a_group TEXT NOT NULL,
    b_group TEXT NOT NULL,
    a_tier INTEGER NOT NULL,
    b_tier INTEGER NOT NULL,
    a_wait_s REAL NOT NULL,
    b_wait_s REAL NOT NULL
) STRICT;

CREATE INDEX quality_by_time ON quality (paired_at);
