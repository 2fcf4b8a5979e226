DELETE FROM jobs
WHERE id IN (SELECT CAST(value AS bigint) FROM json_array_elements_text(CAST(? AS json)));
