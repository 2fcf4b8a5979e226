-- How many times this data directory was started.
SELECT coalesce((SELECT value FROM meta WHERE name = 'boot'), 0);
