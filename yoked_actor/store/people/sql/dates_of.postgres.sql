-- The dates of a user with a number greater than one, or since an instant: nodes number theirs independently.
SELECT number FROM dates
WHERE (number > :after OR started_at >= :since) AND (a = :user OR b = :user);
