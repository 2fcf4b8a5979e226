SELECT
    greatest(coalesce((SELECT max(number) FROM matches), 0), coalesce((SELECT max(number) FROM dates), 0))
    + 1;
