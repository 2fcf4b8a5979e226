SELECT id, url, boot, EXTRACT(EPOCH FROM clock_timestamp() - seen_at) FROM nodes ORDER BY id;
