-- The keys of jobs with an id greater than one that name a user.
SELECT type, dedup_key FROM jobs WHERE id > :after AND instr(dedup_key, :mark) > 0;
