-- Jobs whose payload may name a user, or whose key does, with an id greater than one, or since an instant: a
-- transaction that is committed later may have lower ids.
SELECT id, payload, dedup_key FROM jobs
WHERE (id > :after OR created_at >= :since)
    AND (instr(payload, :user) > 0 OR instr(dedup_key, :mark) > 0);
