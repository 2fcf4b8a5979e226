-- Daily offers (R41-R44): the runs of zones, the sets and their offers, answers and connections.
--
-- Instants are whole microseconds since the Unix epoch, days are ISO 8601. Offers are keyed by day, user
-- and rank, so that a morning's go to the end of the table. Their ids are not stored: they follow from day,
-- user and candidate.

-- Whoever is near to somebody is in a cell of half a degree near to theirs. The same expression stands in
-- offer_pool_people.sql.
CREATE INDEX people_by_cell ON people (
    (CAST((lat + 90) * 2 AS INTEGER) * 720 + CAST((lon + 180) * 2 AS INTEGER) % 720)
);

-- A zone's run on a local date: what it is made from. The pool is dropped after a while, the digest stays.
CREATE TABLE offer_runs (
    day TEXT NOT NULL,
    zone TEXT NOT NULL,
    offered_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    frozen_at INTEGER NOT NULL,
    rules TEXT NOT NULL, -- JSON
    inputs TEXT NOT NULL, -- digest
    outputs TEXT, -- digest, once made
    receivers INTEGER NOT NULL,
    PRIMARY KEY (day, zone)
) STRICT, WITHOUT ROWID;

CREATE TABLE offer_pools (
    number INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    zone TEXT NOT NULL,
    content BLOB NOT NULL, -- deflated
    UNIQUE (day, zone)
) STRICT;

-- One set for a user and a date, for ever, whatever the zone (R41).
CREATE TABLE offer_sets (
    day TEXT NOT NULL,
    user_id TEXT NOT NULL,
    zone TEXT NOT NULL,
    offered_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    scoring TEXT NOT NULL,
    digest TEXT NOT NULL,
    stored_at INTEGER NOT NULL,
    delivered_at INTEGER, -- for the first time
    deliveries INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX offer_sets_by_user ON offer_sets (user_id, offered_at);

CREATE TABLE offers (
    day TEXT NOT NULL,
    user_id TEXT NOT NULL,
    rank INTEGER NOT NULL,
    candidate TEXT NOT NULL,
    score INTEGER NOT NULL,
    tier INTEGER NOT NULL,
    years_apart INTEGER NOT NULL,
    shared TEXT NOT NULL, -- JSON array
    likeness INTEGER NOT NULL,
    km INTEGER NOT NULL,
    nearness_lost INTEGER NOT NULL,
    PRIMARY KEY (day, user_id, rank),
    CHECK (user_id <> candidate)
) STRICT, WITHOUT ROWID;

CREATE TABLE offer_answers (
    user_id TEXT NOT NULL,
    candidate TEXT NOT NULL,
    day TEXT NOT NULL,
    answer TEXT NOT NULL,
    answered_at INTEGER NOT NULL,
    PRIMARY KEY (user_id, candidate, day),
    CHECK (answer IN ('accept', 'decline'))
) STRICT, WITHOUT ROWID;

-- An unordered pair is kept in ascending order: two people have one connection at most.
CREATE TABLE connections (
    number INTEGER PRIMARY KEY,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    UNIQUE (a, b),
    CHECK (a < b)
) STRICT;

CREATE INDEX connections_by_b ON connections (b);
