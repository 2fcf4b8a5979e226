-- Jobs that became dead letters before an instant, dismissed or not.
SELECT json_group_array(id) FROM (
    SELECT id FROM jobs WHERE status = 'dead_letter' AND completed_at < ?1
    ORDER BY completed_at LIMIT ?2
);
