SELECT number, a, b, started_at, ends_at, ended_at, ended_for, match_number
FROM dates
WHERE ended_at IS NULL AND room = :room
ORDER BY number;
