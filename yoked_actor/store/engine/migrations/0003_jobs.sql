-- The job queue (R30-R36): jobs, the attempts that went wrong, which keys were used, and each zone's runs.
--
-- Instants are whole microseconds since the Unix epoch. Ids are never used again, not even those of jobs
-- that were deleted: an idempotency key is made from one.

CREATE TABLE jobs (
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
    CHECK (status IN ('pending', 'in_progress', 'completed', 'failed', 'dead_letter', 'cancelled')),
    CHECK ((lease_until IS NOT NULL) = (status = 'in_progress')),
    CHECK ((completed_at IS NOT NULL) = (status IN ('completed', 'dead_letter', 'cancelled')))
) STRICT;

-- In the order of claims. Jobs that run or have ended are in none of these, which keeps them small.
CREATE INDEX jobs_waiting ON jobs (priority, scheduled_for, id) WHERE status IN ('pending', 'failed');
CREATE INDEX jobs_leased ON jobs (lease_until) WHERE status = 'in_progress';
CREATE INDEX jobs_ended ON jobs (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX jobs_dead ON jobs (type) WHERE status = 'dead_letter';

CREATE TABLE job_attempts (
    job_id INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    owner TEXT,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    cause TEXT NOT NULL,
    error TEXT NOT NULL,
    PRIMARY KEY (job_id, fence)
) STRICT, WITHOUT ROWID;

-- Which keys were used (R35). While the job is there its status is the outcome, and none stands here;
-- the outcome is written when the job is deleted.
CREATE TABLE job_ledger (
    type TEXT NOT NULL,
    key TEXT NOT NULL,
    job_id INTEGER NOT NULL,
    digest TEXT NOT NULL, -- of the payload
    outcome TEXT,
    ended_at INTEGER,
    PRIMARY KEY (type, key),
    CHECK ((outcome IS NULL) = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX job_ledger_ended ON job_ledger (ended_at) WHERE ended_at IS NOT NULL;

-- One row for each zone and local date whose run is planned or over (R40).
CREATE TABLE zone_runs (
    zone TEXT NOT NULL,
    local_date TEXT NOT NULL, -- ISO 8601
    scheduled_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    job_id INTEGER,
    started_at INTEGER,
    ended_at INTEGER,
    digest TEXT,
    PRIMARY KEY (zone, local_date),
    CHECK (status IN ('planned', 'started', 'done', 'missed'))
) STRICT, WITHOUT ROWID;

CREATE INDEX zone_runs_planned ON zone_runs (scheduled_at) WHERE status = 'planned';
