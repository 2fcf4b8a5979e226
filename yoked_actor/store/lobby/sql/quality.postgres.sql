-- Waits and tiers by group, of the newest matches made since an instant; each match has two sides. A
-- percentile is found by the nearest rank.
WITH
recent AS (
    SELECT * FROM quality WHERE paired_at >= ? ORDER BY paired_at DESC, match_number DESC LIMIT ?
),
sides AS (
    SELECT match_number, a_group AS kind, a_tier AS tier, a_wait_s AS wait_s FROM recent
    UNION ALL
    SELECT match_number, b_group, b_tier, b_wait_s FROM recent
),
ranked AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY kind ORDER BY wait_s) AS place,
        count(*) OVER (PARTITION BY kind) AS size
    FROM sides
)
SELECT
    kind,
    size,
    max(CASE WHEN place = (size * 50 + 99) / 100 THEN wait_s END),
    max(CASE WHEN place = (size * 90 + 99) / 100 THEN wait_s END),
    max(CASE WHEN place = (size * 99 + 99) / 100 THEN wait_s END),
    count(*) FILTER (WHERE tier = 1),
    count(*) FILTER (WHERE tier = 2),
    count(*) FILTER (WHERE tier = 3),
    count(*) FILTER (WHERE tier = 99),
    count(*) FILTER (WHERE m.ended_at IS NOT NULL),
    count(*) FILTER (WHERE m.outcome = 'both_yes')
FROM ranked
LEFT JOIN matches AS m ON m.number = match_number
GROUP BY kind, size
ORDER BY kind;
