-- Store the answer of a receiver to a run, if the run still holds the job.
INSERT INTO job_answers (job_id, fence, at, status, receiver_id, body)
SELECT id, fence, CAST(?3 AS BIGINT), CAST(?4 AS BIGINT), ?5, ?6 FROM jobs WHERE id = ?1 AND fence = ?2
ON CONFLICT (job_id, fence) DO UPDATE SET
    at = excluded.at,
    status = excluded.status,
    receiver_id = excluded.receiver_id,
    body = excluded.body;
