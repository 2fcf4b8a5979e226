SELECT number, a, b, started_at, ends_at, ended_at, ended_for
FROM dates
WHERE ended_at IS NULL
ORDER BY number;
