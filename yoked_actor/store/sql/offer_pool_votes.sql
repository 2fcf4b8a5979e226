-- How often everybody has said yes, and was said yes to, in the newest matches that came to an outcome.
-- Who did not vote has not said no.
WITH
sides AS (
    SELECT a AS who, a_vote AS gave, b_vote AS got, ended_at, outcome FROM matches
    WHERE number > (SELECT max(number) FROM matches) - :newest
    UNION ALL
    SELECT b, b_vote, a_vote, ended_at, outcome FROM matches
    WHERE number > (SELECT max(number) FROM matches) - :newest
)
SELECT
    who, sum(gave IS 'yes'), sum(gave IN ('yes', 'pass')), sum(got IS 'yes'),
    sum(got IN ('yes', 'pass'))
FROM sides
WHERE outcome IS NOT NULL AND ended_at <= :at
GROUP BY who;
