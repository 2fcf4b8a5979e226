-- How many times a server was started on this data directory.
SELECT coalesce((SELECT value FROM meta WHERE name = 'boot'), 0);
