-- The matches of a user with a number greater than one.
SELECT number FROM matches WHERE number > :after AND (a = :user OR b = :user);
