-- An operator's warning to a user. It is sent at each hello until the user has seen it.
CREATE TABLE warnings (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id TEXT NOT NULL,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    text TEXT NOT NULL,
    seen_at INTEGER
) STRICT;

CREATE INDEX warnings_by_user ON warnings (user_id);
CREATE INDEX warnings_unseen ON warnings (user_id) WHERE seen_at IS NULL;
CREATE INDEX warnings_by_time ON warnings (at);
