SELECT zone FROM zone_runs WHERE status = 'missed' AND scheduled_at > ?;
