-- The pairs of a JSON array that a block of either side keeps apart.
SELECT w.value ->> 0, w.value ->> 1
FROM json_each(?) AS w
WHERE
    EXISTS (SELECT 1 FROM blocks WHERE blocker = w.value ->> 0 AND blocked = w.value ->> 1)
    OR EXISTS (SELECT 1 FROM blocks WHERE blocker = w.value ->> 1 AND blocked = w.value ->> 0);
