-- Jobs whose payload may name a user, or whose key does, with an id greater than one.
SELECT id, payload, dedup_key FROM jobs
WHERE id > :after AND (instr(payload, :user) > 0 OR instr(dedup_key, :mark) > 0);
