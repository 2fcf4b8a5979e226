-- The part of the sets of a run in which a user would be, made from the present inputs of the run.
SELECT p.content
FROM offer_parts AS p
JOIN offer_runs AS r ON r.day = p.day AND r.zone = p.zone AND r.inputs = p.inputs
WHERE p.day = ?1 AND p.zone = ?2 AND p.first_user <= ?3
ORDER BY p.first_user DESC
LIMIT 1;
