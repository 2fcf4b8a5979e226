-- How often each user voted yes, and got yes, in the newest matches with an outcome. No vote, which is
-- NULL, does not count as a no. Numbers have gaps, so the newest are counted.
WITH
newest AS (SELECT * FROM matches ORDER BY number DESC LIMIT :newest),
sides AS (
    SELECT a AS who, a_vote AS gave, b_vote AS got, ended_at, outcome FROM newest
    UNION ALL
    SELECT b, b_vote, a_vote, ended_at, outcome FROM newest
)
SELECT
    who,
    count(*) FILTER (WHERE gave = 'yes'),
    count(*) FILTER (WHERE gave IN ('yes', 'pass')),
    count(*) FILTER (WHERE got = 'yes'),
    count(*) FILTER (WHERE got IN ('yes', 'pass'))
FROM sides
WHERE outcome IS NOT NULL AND ended_at <= :at
GROUP BY who;
