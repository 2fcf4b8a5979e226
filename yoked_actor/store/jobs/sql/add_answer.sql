-- Keep what somebody outside has answered to a run, if that still holds the job.
INSERT OR REPLACE INTO job_answers (job_id, fence, at, status, receiver_id, body)
SELECT id, fence, ?3, ?4, ?5, ?6 FROM jobs WHERE id = ?1 AND fence = ?2;
