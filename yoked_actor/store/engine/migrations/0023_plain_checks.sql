-- The same tables with the same checks, written as comparisons. For `x IN (three or more values)` in a CHECK SQLite
-- makes a table of the values again for each row that is written, which took a third of the time of a job.

CREATE TABLE new_jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    type TEXT NOT NULL,
    payload TEXT NOT NULL, -- JSON
    payload_version INTEGER NOT NULL,
    scheduled_for INTEGER NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    fence INTEGER NOT NULL DEFAULT 0,
    owner TEXT,
    lease_until INTEGER,
    last_error TEXT,
    dedup_key TEXT,
    priority INTEGER NOT NULL,
    cancel_asked INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    max_attempts INTEGER,
    progress_done INTEGER,
    progress_total INTEGER,
    progress_note TEXT,
    dismissed_at INTEGER,
    dismissed_by TEXT,
    dismissed_reason TEXT,
    overtaken INTEGER NOT NULL DEFAULT 0,
    CHECK (
        status = 'pending' OR status = 'in_progress' OR status = 'completed' OR status = 'failed'
        OR status = 'dead_letter' OR status = 'cancelled'
    ),
    CHECK ((lease_until IS NOT NULL) = (status = 'in_progress')),
    CHECK (
        (completed_at IS NOT NULL) = (status = 'completed' OR status = 'dead_letter' OR status = 'cancelled')
    ),
    CHECK (dismissed_at IS NULL OR status = 'dead_letter'),
    CHECK ((dismissed_by IS NULL) = (dismissed_at IS NULL)),
    CHECK ((dismissed_reason IS NULL) = (dismissed_at IS NULL))
) STRICT;

INSERT INTO new_jobs (
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until, last_error,
    dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts, progress_done,
    progress_total, progress_note, dismissed_at, dismissed_by, dismissed_reason, overtaken
)
SELECT
    id, type, payload, payload_version, scheduled_for, status, attempts, fence, owner, lease_until, last_error,
    dedup_key, priority, cancel_asked, created_at, started_at, completed_at, max_attempts, progress_done,
    progress_total, progress_note, dismissed_at, dismissed_by, dismissed_reason, overtaken
FROM jobs;

-- The largest id may be one of a job that was deleted: it is not used again.
DELETE FROM sqlite_sequence WHERE name = 'new_jobs';
INSERT INTO sqlite_sequence (name, seq) SELECT 'new_jobs', seq FROM sqlite_sequence WHERE name = 'jobs';

DROP TABLE jobs;
ALTER TABLE new_jobs RENAME TO jobs;

-- In the order of claims. Jobs that run or have ended are in none of these, which keeps them small.
CREATE INDEX jobs_waiting ON jobs (priority, scheduled_for, id) WHERE status IN ('pending', 'failed');
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE status = 'in_progress';

-- Dead letters are kept longer than what ended well.
CREATE INDEX jobs_finished ON jobs (completed_at) WHERE status IN ('completed', 'cancelled');
CREATE INDEX jobs_buried ON jobs (completed_at) WHERE status = 'dead_letter';

-- Dead letters that somebody still has to look at; those that were dismissed, by whom and when.
CREATE INDEX jobs_dead ON jobs (type, id) WHERE status = 'dead_letter' AND dismissed_at IS NULL;
CREATE INDEX jobs_dismissed ON jobs (dismissed_by) WHERE dismissed_by IS NOT NULL;
CREATE INDEX jobs_dismissed_at ON jobs (dismissed_at) WHERE dismissed_at IS NOT NULL;

-- One row a user, and it names one match at most: a user cannot sit in two (R19).
CREATE TABLE new_seats (
    user_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    waiting_since INTEGER,
    credit INTEGER NOT NULL,
    match_number INTEGER,
    date_number INTEGER,
    last_match_number INTEGER,
    room TEXT NOT NULL DEFAULT 'main',
    CHECK ((match_number IS NOT NULL) = (state = 'matched' OR state = 'voting')),
    CHECK (state = 'idle' OR state = 'waiting' OR state = 'matched' OR state = 'voting')
) STRICT, WITHOUT ROWID;

INSERT INTO new_seats (
    user_id, state, waiting_since, credit, match_number, date_number, last_match_number, room
)
SELECT user_id, state, waiting_since, credit, match_number, date_number, last_match_number, room
FROM seats;

DROP TABLE seats;
ALTER TABLE new_seats RENAME TO seats;
