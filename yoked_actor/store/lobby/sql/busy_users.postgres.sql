-- The users of a room who are not idle or are on an open date, as one JSON array in ascending order.
SELECT coalesce(json_agg(user_id ORDER BY user_id), '[]')
FROM (
    SELECT user_id FROM seats WHERE state <> 'idle' AND room = :room
    UNION
    SELECT a FROM dates WHERE ended_at IS NULL AND room = :room
    UNION
    SELECT b FROM dates WHERE ended_at IS NULL AND room = :room
) AS busy;
