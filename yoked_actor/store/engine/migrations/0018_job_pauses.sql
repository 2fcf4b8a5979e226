-- Types of jobs that an operator has paused: no process claims them. Jobs that run are not stopped.
CREATE TABLE job_pauses (
    type TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    by TEXT NOT NULL,
    reason TEXT NOT NULL
) STRICT, WITHOUT ROWID;
