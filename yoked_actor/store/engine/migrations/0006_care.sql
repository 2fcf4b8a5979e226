-- Care for people: erasures, suspensions, the review of reports, and what operators did.
--
-- Instants are whole microseconds since the Unix epoch. Every column that can name a user is listed in
-- store/sqlite_erasure.py, and a test sees to it that none is forgotten.

-- Who was erased is not known any more: a tombstone, and when. It says what was erased since an instant.
CREATE TABLE erased (
    tombstone TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX erased_by_time ON erased (at);

CREATE TABLE suspended (
    user_id TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    action TEXT NOT NULL,
    subject TEXT NOT NULL, -- a user, or the id of whatever else it was done to
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_time ON audit (at);

ALTER TABLE reports ADD COLUMN resolved_at INTEGER;
ALTER TABLE reports ADD COLUMN resolved_by TEXT;
ALTER TABLE reports ADD COLUMN resolution TEXT;

CREATE INDEX reports_open ON reports (number) WHERE resolved_at IS NULL;
CREATE INDEX reports_by_time ON reports (at);
CREATE INDEX reports_by_reported ON reports (reported);
CREATE INDEX reports_by_reporter ON reports (reporter);

-- A block goes when either of the two is erased.
CREATE INDEX blocks_by_blocked ON blocks (blocked);

-- How many of a set's offers were erased, and how many people of what a run was made from: neither can be
-- verified then, which is not the same as having been tampered with.
ALTER TABLE offer_sets ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
ALTER TABLE offer_runs ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
