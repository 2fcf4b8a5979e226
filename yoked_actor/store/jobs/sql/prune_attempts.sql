DELETE FROM job_attempts WHERE job_id IN (SELECT value FROM json_each(?));
