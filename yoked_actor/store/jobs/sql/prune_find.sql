-- Jobs that completed or were cancelled before an instant. Dead letters are kept longer.
SELECT json_group_array(id) FROM (
    SELECT id FROM jobs WHERE status IN ('completed', 'cancelled') AND completed_at < ?1
    ORDER BY completed_at LIMIT ?2
);
