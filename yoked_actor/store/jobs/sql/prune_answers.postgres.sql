DELETE FROM job_answers
WHERE job_id IN (SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST(? AS json)));
