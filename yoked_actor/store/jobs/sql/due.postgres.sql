-- Due jobs of one priority, in their order, as one JSON array of what the claimer does not know; attempts and fence
-- are those after the claim. ?4 is a JSON array of types, or NULL for all. Jobs that another process claims or
-- changes at this moment are left to it; those that are returned are locked until the claim.
WITH due AS MATERIALIZED (
    SELECT * FROM jobs
    WHERE status IN ('pending', 'failed') AND priority = ?1 AND scheduled_for <= ?2
        AND (CAST(?4 AS text) IS NULL OR type IN (SELECT value FROM json_array_elements_text(CAST(?4 AS json))))
    ORDER BY scheduled_for, id
    LIMIT ?3
    FOR UPDATE SKIP LOCKED
)
SELECT CAST(coalesce(json_agg(json_build_array(
    id, type, payload, payload_version, scheduled_for, attempts + 1, fence + 1, last_error, dedup_key,
    cancel_asked, created_at, max_attempts
) ORDER BY scheduled_for, id), '[]') AS text)
FROM due;
