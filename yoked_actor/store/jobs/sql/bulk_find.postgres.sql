-- Jobs in some states, oldest first. ?1 is a JSON array of states; NULL leaves a condition out. Dismissed
-- dead letters are left out.
SELECT id
FROM jobs
WHERE
    status IN (SELECT value FROM json_array_elements_text(CAST(?1 AS json)))
    AND dismissed_at IS NULL
    AND (CAST(?2 AS text) IS NULL OR type = ?2)
    AND (
        CAST(?3 AS text) IS NULL
        OR instr(payload, ?3) > 0
        OR instr(coalesce(dedup_key, ''), ?3) > 0
    )
ORDER BY id
LIMIT ?4;
