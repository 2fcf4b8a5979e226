-- Jobs that became dead letters before an instant, dismissed or not.
SELECT CAST(coalesce(json_agg(id), '[]') AS text) FROM (
    SELECT id FROM jobs WHERE status = 'dead_letter' AND completed_at < ?1
    ORDER BY completed_at LIMIT ?2
) AS gone;
