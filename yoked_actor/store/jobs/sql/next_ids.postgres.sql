-- As many ids as are asked for, which no job ever had, as one JSON array.
SELECT CAST(json_agg(nextval('jobs_id_seq')) AS text) FROM generate_series(1, CAST(?1 AS integer));
