SELECT zone, local_date, scheduled_at, status, job_id, started_at, ended_at, digest
FROM zone_runs
WHERE (?1 IS NULL OR zone = ?1) AND (?2 IS NULL OR status = ?2)
ORDER BY local_date DESC, zone
LIMIT ?3;
