DELETE FROM job_answers WHERE job_id IN (SELECT value FROM json_each(?));
