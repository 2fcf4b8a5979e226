-- Every zone in which a person lives, with one step in the index for each.
WITH RECURSIVE inhabited (zone) AS (
    SELECT min(time_zone) FROM people
    UNION ALL
    SELECT (SELECT min(time_zone) FROM people WHERE time_zone > zone)
    FROM inhabited
    WHERE zone IS NOT NULL
)
SELECT zone FROM inhabited WHERE zone IS NOT NULL;
