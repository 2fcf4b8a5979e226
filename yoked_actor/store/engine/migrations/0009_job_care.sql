-- What operators see of jobs and do about them: runs of a job's own, progress, dismissed dead letters, what
-- receivers have answered, and alerts about dead letters.
--
-- Instants are whole microseconds since the Unix epoch.

ALTER TABLE jobs ADD COLUMN max_attempts INTEGER;
ALTER TABLE jobs ADD COLUMN progress_done INTEGER;
ALTER TABLE jobs ADD COLUMN progress_total INTEGER;
ALTER TABLE jobs ADD COLUMN progress_note TEXT;
ALTER TABLE jobs ADD COLUMN dismissed_at INTEGER CHECK (dismissed_at IS NULL OR status = 'dead_letter');
ALTER TABLE jobs ADD COLUMN dismissed_by TEXT CHECK ((dismissed_by IS NULL) = (dismissed_at IS NULL));
ALTER TABLE jobs ADD COLUMN dismissed_reason TEXT CHECK ((dismissed_reason IS NULL) = (dismissed_at IS NULL));

-- Dead letters are kept longer than what ended well, and must not be walked over every day.
DROP INDEX jobs_ended;
CREATE INDEX jobs_finished ON jobs (completed_at) WHERE status IN ('completed', 'cancelled');
CREATE INDEX jobs_buried ON jobs (completed_at) WHERE status = 'dead_letter';

-- Who dismissed one may be erased, too.
CREATE INDEX jobs_dismissed ON jobs (dismissed_by) WHERE dismissed_by IS NOT NULL;

-- Those that somebody still has to look at.
DROP INDEX jobs_dead;
CREATE INDEX jobs_dead ON jobs (type, id) WHERE status = 'dead_letter' AND dismissed_at IS NULL;

-- What somebody outside has answered to a run of a job.
CREATE TABLE job_answers (
    job_id INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER NOT NULL, -- of HTTP
    receiver_id TEXT, -- what the receiver calls it
    body TEXT NOT NULL, -- the beginning of it
    PRIMARY KEY (job_id, fence)
) STRICT, WITHOUT ROWID;

-- Dead letters that the alarm has not taken up yet.
CREATE TABLE dead_letter_news (
    type TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    job_id INTEGER NOT NULL, -- the first
    PRIMARY KEY (type, kind)
) STRICT, WITHOUT ROWID;

-- The alerts about dead letters that stand: at most one for each type and kind of error.
CREATE TABLE dead_letter_alerts (
    type TEXT NOT NULL,
    kind TEXT NOT NULL,
    count INTEGER NOT NULL,
    job_id INTEGER NOT NULL,
    raised_at INTEGER NOT NULL,
    PRIMARY KEY (type, kind)
) STRICT, WITHOUT ROWID;
