-- The progress of a run: whether its own job is done, its number of users, and the state of their jobs,
-- which all have greater ids than the job of the run.
SELECT
    z.status,
    (SELECT r.receivers FROM offer_runs AS r WHERE r.day = z.local_date AND r.zone = z.zone),
    (SELECT count(*) FROM offer_sets AS s WHERE s.day = z.local_date AND s.zone = z.zone),
    count(j.id) FILTER (WHERE j.status IN ('pending', 'in_progress', 'failed')),
    count(j.id) FILTER (WHERE j.status = 'dead_letter')
FROM zone_runs AS z
LEFT JOIN jobs AS j
    ON
        j.id >= z.job_id
        AND (
            j.id = z.job_id
            OR (
                j.type = 'offers.user'
                AND CASE
                    WHEN json_valid(j.payload)
                        THEN
                            CAST(j.payload AS jsonb) ->> 'zone' = z.zone
                            AND CAST(j.payload AS jsonb) ->> 'date' = z.local_date
                END
            )
        )
WHERE z.zone = :zone AND z.local_date = :day
GROUP BY z.zone, z.local_date;
