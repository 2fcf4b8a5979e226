-- How many matches were made since an instant, counted up to a limit.
SELECT count(*) FROM (SELECT 1 FROM quality WHERE paired_at >= ? LIMIT ?) AS found;
