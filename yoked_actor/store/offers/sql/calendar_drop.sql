DELETE FROM zone_runs WHERE zone = ? AND local_date = ? AND status = 'planned';
