-- How many reports a user made since an instant, and how many of them about one other user are open.
SELECT
    count(*) FILTER (WHERE at > :since),
    count(*) FILTER (WHERE reported = :reported AND resolved_at IS NULL)
FROM reports
WHERE reporter = :reporter AND kind = 'report';
