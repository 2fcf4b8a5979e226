-- Jobs whose errors, notes or dismissals name a user: those with an id greater than one or since an
-- instant, and older ones that have failed, reported progress or been dismissed since then. Every stored error is in an attempt.
SELECT id FROM jobs
WHERE (id > :after OR created_at >= :since)
    AND (
        instr(last_error, :user) > 0
        OR instr(progress_note, :user) > 0
        OR instr(dismissed_reason, :user) > 0
    )
UNION
SELECT job_id FROM job_attempts WHERE job_id > :after AND instr(error, :user) > 0
UNION
SELECT job_id FROM job_attempts WHERE ended_at >= :since AND instr(error, :user) > 0
UNION
SELECT id FROM jobs WHERE status = 'in_progress' AND instr(progress_note, :user) > 0
UNION
SELECT id FROM jobs
WHERE status = 'dead_letter' AND dismissed_at >= :since AND instr(dismissed_reason, :user) > 0;
