-- Jobs in some states, oldest first. ?1 is a JSON array of states; NULL leaves a condition out. Dismissed
-- dead letters are left out.
SELECT id
FROM jobs
WHERE
    status IN (SELECT value FROM json_each(?1))
    AND dismissed_at IS NULL
    AND (?2 IS NULL OR type = ?2)
    AND (?3 IS NULL OR instr(payload, ?3) > 0 OR instr(coalesce(dedup_key, ''), ?3) > 0)
ORDER BY id
LIMIT ?4;
