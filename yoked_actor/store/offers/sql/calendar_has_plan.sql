SELECT EXISTS (SELECT 1 FROM zone_runs WHERE zone = ? AND status = 'planned');
