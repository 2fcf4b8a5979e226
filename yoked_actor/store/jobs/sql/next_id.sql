-- The greatest id that a job ever had. New ids are assigned in the transaction that reads it.
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0);
