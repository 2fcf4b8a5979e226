-- The alerts that stand (R45), so that a restart neither raises one again nor forgets to clear it.

CREATE TABLE alerts (
    alert TEXT PRIMARY KEY,
    value REAL NOT NULL,
    threshold REAL NOT NULL,
    raised_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
