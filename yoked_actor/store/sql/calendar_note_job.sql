UPDATE zone_runs SET job_id = ? WHERE zone = ? AND local_date = ?;
