WHERE
    s.user_id IN (SELECT value FROM json_array_elements_text(CAST(:users AS json)))
    AND s.offered_at > :oldest
    AND s.expires_at > :now
    AND s.delivered_at IS NULL
ORDER BY s.user_id, s.offered_at;
