-- Where a person is shown to be, and since when: a changed position changes it seldom. NULL: never worked
-- out, as in profiles from before this migration.
ALTER TABLE people ADD COLUMN shown_lat REAL;
ALTER TABLE people ADD COLUMN shown_lon REAL;
ALTER TABLE people ADD COLUMN shown_at INTEGER;

-- What both were told of their distance; NULL in matches from before this migration.
ALTER TABLE quality ADD COLUMN shown_km INTEGER;

-- Secrets of the server, made once: every process on this database derives the same from them.
CREATE TABLE secrets (
    name TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
