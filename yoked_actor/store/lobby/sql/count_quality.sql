-- How many matches were made since an instant, counted no further than a limit.
SELECT count(*) FROM (SELECT 1 FROM quality WHERE paired_at >= ? LIMIT ?);
