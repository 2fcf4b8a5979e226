-- Every zone that somebody lives in: one step down the index for each, however many people there are.
WITH RECURSIVE inhabited (zone) AS (
    SELECT min(time_zone) FROM people
    UNION ALL
    SELECT (SELECT min(time_zone) FROM people WHERE time_zone > zone)
    FROM inhabited
    WHERE zone IS NOT NULL
)
SELECT zone FROM inhabited WHERE zone IS NOT NULL;
