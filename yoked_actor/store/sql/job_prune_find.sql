SELECT json_group_array(id) FROM (
    SELECT id FROM jobs WHERE completed_at < ?1 ORDER BY completed_at LIMIT ?2
);
