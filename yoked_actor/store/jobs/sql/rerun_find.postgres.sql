-- Dead letters and failed jobs of a type whose payload has all values of a JSON object. A payload that is
-- not JSON has none of them, and must not fail the query.
SELECT id, status
FROM jobs
WHERE
    status IN ('dead_letter', 'failed')
    AND dismissed_at IS NULL
    AND (status = 'dead_letter' OR scheduled_for > :now)
    AND type = :type
    AND id > :after
    AND CASE WHEN json_valid(payload) THEN CAST(payload AS jsonb) @> CAST(:values AS jsonb) END
ORDER BY id
LIMIT :limit;
