SELECT min(scheduled_at) FROM zone_runs WHERE status = 'planned';
