-- The rooms in which a user is not idle, or a match or a date is open.
SELECT room FROM seats WHERE state <> 'idle'
UNION
SELECT room FROM matches WHERE ended_at IS NULL
UNION
SELECT room FROM dates WHERE ended_at IS NULL
ORDER BY 1;
