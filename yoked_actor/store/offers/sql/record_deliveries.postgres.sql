-- Record deliveries from a JSON array of (day, user). The first instant stays, all are counted.
UPDATE offer_sets
SET delivered_at = coalesce(delivered_at, :now), deliveries = deliveries + 1
WHERE (day, user_id) IN (
    SELECT value ->> 0, value ->> 1 FROM json_array_elements(CAST(:sets AS json))
);
