UPDATE zone_runs SET status = 'done', ended_at = ?1, digest = ?2
WHERE zone = ?3 AND local_date = ?4 AND status = 'started';
