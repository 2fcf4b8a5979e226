SELECT local_date FROM zone_runs WHERE zone = ? AND local_date >= ?;
