SELECT r.rules, r.inputs, r.outputs, p.content, r.erased, r.refrozen
FROM offer_runs AS r
LEFT JOIN offer_pools AS p ON p.day = r.day AND p.zone = r.zone
WHERE r.day = ? AND r.zone = ?;
