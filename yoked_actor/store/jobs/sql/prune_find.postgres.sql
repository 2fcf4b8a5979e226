-- Jobs that completed or were cancelled before an instant. Dead letters are kept longer.
SELECT CAST(coalesce(json_agg(id), '[]') AS text) FROM (
    SELECT id FROM jobs WHERE status IN ('completed', 'cancelled') AND completed_at < ?1
    ORDER BY completed_at LIMIT ?2
) AS gone;
