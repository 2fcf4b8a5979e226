-- The greatest id that was ever given to a job; ids are given in the transaction that reads it.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0);
