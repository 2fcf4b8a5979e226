-- Whom a user has met since an instant, newest first: the match, its date, the user's own answer after it,
-- and the connection of the two. Without users who are erased, or whom a block keeps apart.
WITH met_with (partner, met_at, match_number) AS (
    SELECT b, met_at, match_number FROM met WHERE a = :user AND met_at >= :since
    UNION ALL
    SELECT a, met_at, match_number FROM met WHERE b = :user AND met_at >= :since
)
SELECT
    m.number, w.partner, w.met_at, m.outcome, d.number, d.started_at, d.ended_at,
    (SELECT answer FROM touch_answers WHERE date_number = d.number AND user_id = :user),
    (
        SELECT number FROM connections
        WHERE
            a = CASE WHEN w.partner < :user THEN w.partner ELSE :user END
            AND b = CASE WHEN w.partner < :user THEN :user ELSE w.partner END
    )
FROM met_with AS w
JOIN matches AS m ON m.number = w.match_number
LEFT JOIN dates AS d ON d.match_number = m.number
WHERE
    m.ended_at IS NOT NULL
    AND substr(w.partner, 1, length(:erased)) <> :erased
    AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocker = :user AND blocked = w.partner)
    AND NOT EXISTS (SELECT 1 FROM blocks WHERE blocker = w.partner AND blocked = :user)
ORDER BY w.met_at DESC, m.number DESC
LIMIT :most;
