-- The matches of a user with a number greater than one, or since an instant: nodes number theirs independently.
SELECT number FROM matches
WHERE (number > :after OR paired_at >= :since) AND (a = :user OR b = :user);
