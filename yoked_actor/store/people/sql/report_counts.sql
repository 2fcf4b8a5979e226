-- How many reports a user has made since an instant, and how many of theirs about another are open.
SELECT
    count(*) FILTER (WHERE at > :since),
    count(*) FILTER (WHERE reported = :reported AND resolved_at IS NULL)
FROM reports
WHERE reporter = :reporter;
