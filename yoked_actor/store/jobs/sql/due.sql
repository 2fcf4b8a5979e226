-- Due jobs of one priority, in their order, as one JSON array of what the claimer does not know; attempts and fence
-- are those after the claim. ?4 is a JSON array of types, or NULL for all. One row, because each row that is fetched
-- releases the interpreter lock and has to acquire it again.
SELECT json_group_array(json_array(
    id, type, payload, payload_version, scheduled_for, attempts + 1, fence + 1, last_error, dedup_key,
    cancel_asked, created_at, max_attempts
))
FROM (
    SELECT
        due.id, due.type, due.payload, due.payload_version, due.scheduled_for, due.attempts, due.fence,
        due.last_error, due.dedup_key, due.cancel_asked, due.created_at, due.max_attempts
    FROM jobs AS due
    WHERE due.status IN ('pending', 'failed') AND due.priority = ?1 AND due.scheduled_for <= ?2
        AND (?4 IS NULL OR due.type IN (SELECT value FROM json_each(?4)))
    ORDER BY due.scheduled_for, due.id
    LIMIT ?3
);
