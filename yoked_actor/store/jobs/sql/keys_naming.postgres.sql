-- The keys of jobs with an id greater than one, or since an instant, that name a user.
SELECT type, dedup_key FROM jobs
WHERE (id > :after OR created_at >= :since) AND instr(dedup_key, :mark) > 0;
