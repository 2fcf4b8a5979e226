SELECT zone, local_date, scheduled_at, status, job_id, started_at, ended_at, digest
FROM zone_runs
WHERE (CAST(?1 AS TEXT) IS NULL OR zone = ?1) AND (CAST(?2 AS TEXT) IS NULL OR status = ?2)
ORDER BY local_date DESC, zone
LIMIT ?3;
