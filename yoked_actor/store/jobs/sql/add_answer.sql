-- Store the answer of a receiver to a run, if the run still holds the job.
INSERT OR REPLACE INTO job_answers (job_id, fence, at, status, receiver_id, body)
SELECT id, fence, ?3, ?4, ?5, ?6 FROM jobs WHERE id = ?1 AND fence = ?2;
