-- Jobs that wait, by priority and type: a claim reads no jobs of types that are paused, or left to another process,
-- however many of them wait.
DROP INDEX jobs_waiting;
CREATE INDEX jobs_waiting ON jobs (priority, type, scheduled_for, id) WHERE status IN ('pending', 'failed');
