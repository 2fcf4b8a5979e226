-- Indexes for what an erasure and the calendar look for: without them each walks through a whole table.

-- The audit, by whom or what something was done to, and by whom it was done.
CREATE INDEX audit_by_subject ON audit (subject);
CREATE INDEX audit_by_who ON audit (who);

-- Dead letters that were dismissed since an instant.
CREATE INDEX jobs_dismissed_at ON jobs (dismissed_at) WHERE dismissed_at IS NOT NULL;

-- Runs that count as missed although their time has not come, after the clock was set back.
CREATE INDEX zone_runs_missed ON zone_runs (scheduled_at) WHERE status = 'missed';
