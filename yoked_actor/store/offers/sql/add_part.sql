-- Store a part of the sets of a run, if the run is still made from these inputs.
INSERT INTO offer_parts (day, zone, first_user, inputs, content)
SELECT r.day, r.zone, ?4, r.inputs, ?5
FROM offer_runs AS r
JOIN offer_pools AS p ON p.day = r.day AND p.zone = r.zone
WHERE r.day = ?1 AND r.zone = ?2 AND r.inputs = ?3
ON CONFLICT (day, zone, first_user) DO UPDATE SET
    inputs = excluded.inputs, content = excluded.content;
