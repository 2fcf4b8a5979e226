-- How often each user voted yes, and got yes, in the newest matches with an outcome. No vote does not count
-- as a no. A vote that timed out is NULL: IS, unlike IN, never returns NULL, so a sum over such votes is 0.
WITH
sides AS (
    SELECT a AS who, a_vote AS gave, b_vote AS got, ended_at, outcome FROM matches
    WHERE number > (SELECT max(number) FROM matches) - :newest
    UNION ALL
    SELECT b, b_vote, a_vote, ended_at, outcome FROM matches
    WHERE number > (SELECT max(number) FROM matches) - :newest
)
SELECT
    who, sum(gave IS 'yes'), sum(gave IS 'yes' OR gave IS 'pass'), sum(got IS 'yes'),
    sum(got IS 'yes' OR got IS 'pass')
FROM sides
WHERE outcome IS NOT NULL AND ended_at <= :at
GROUP BY who;
