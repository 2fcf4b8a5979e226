-- The dates of a user with a number greater than one.
SELECT number FROM dates WHERE number > :after AND (a = :user OR b = :user);
