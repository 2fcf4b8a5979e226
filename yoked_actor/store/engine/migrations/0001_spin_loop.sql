-- The spin loop: people, their seats, matches and video dates, and who is kept from whom.
--
-- Instants are whole microseconds since the Unix epoch. Matches and dates are keyed by the number in
-- their id ("m17", "d4"), so that new ones go to the end of the table and the greatest number is at hand.
-- Users are not referenced by foreign keys: a block may name someone who never came.

CREATE TABLE meta (
    name TEXT NOT NULL PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE people (
    user_id TEXT NOT NULL PRIMARY KEY,
    display_name TEXT NOT NULL,
    birth_date TEXT NOT NULL, -- ISO 8601
    gender TEXT NOT NULL,
    lat REAL NOT NULL,
    lon REAL NOT NULL,
    time_zone TEXT NOT NULL,
    interests TEXT NOT NULL, -- JSON array
    seeking TEXT NOT NULL, -- JSON array, sorted
    min_age INTEGER NOT NULL,
    max_age INTEGER NOT NULL,
    max_distance_km REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- One row a user, and it names one match at most: a user cannot sit in two (R19).
CREATE TABLE seats (
    user_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    waiting_since INTEGER,
    credit INTEGER NOT NULL,
    match_number INTEGER,
    date_number INTEGER,
    last_match_number INTEGER,
    CHECK ((match_number IS NOT NULL) = (state IN ('matched', 'voting'))),
    CHECK (state IN ('idle', 'waiting', 'matched', 'voting'))
) STRICT, WITHOUT ROWID;

CREATE TABLE matches (
    number INTEGER PRIMARY KEY,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    status TEXT NOT NULL,
    paired_at INTEGER NOT NULL,
    closes_at INTEGER,
    a_acknowledged INTEGER NOT NULL,
    b_acknowledged INTEGER NOT NULL,
    voting_at INTEGER,
    a_vote TEXT,
    b_vote TEXT,
    outcome TEXT,
    cancelled_for TEXT,
    ended_at INTEGER,
    CHECK (a < b)
) STRICT;

CREATE INDEX open_matches ON matches (number) WHERE ended_at IS NULL;

CREATE TABLE dates (
    number INTEGER PRIMARY KEY,
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    ended_at INTEGER,
    ended_for TEXT,
    CHECK (a <> b)
) STRICT;

CREATE INDEX open_dates ON dates (number) WHERE ended_at IS NULL;

-- An unordered pair is kept in ascending order: it can be there once only (R20).
CREATE TABLE met (
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    met_at INTEGER NOT NULL,
    PRIMARY KEY (a, b),
    CHECK (a < b)
) STRICT, WITHOUT ROWID;

CREATE INDEX met_by_b ON met (b);

CREATE TABLE bars (
    a TEXT NOT NULL,
    b TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (a, b),
    CHECK (a < b)
) STRICT, WITHOUT ROWID;

CREATE INDEX bars_by_b ON bars (b);

CREATE TABLE blocks (
    blocker TEXT NOT NULL,
    blocked TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (blocker, blocked),
    CHECK (blocker <> blocked)
) STRICT, WITHOUT ROWID;

CREATE TABLE reports (
    number INTEGER PRIMARY KEY,
    reporter TEXT NOT NULL,
    reported TEXT NOT NULL,
    reason TEXT NOT NULL,
    match_id TEXT, -- as the reporter gave it
    at INTEGER NOT NULL
) STRICT;
