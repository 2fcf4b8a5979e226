-- Which of the pairs that come in as a JSON array are kept apart by a block, of either side.
SELECT w.value ->> 0, w.value ->> 1
FROM json_each(?) AS w
WHERE
    EXISTS (SELECT 1 FROM blocks WHERE blocker = w.value ->> 0 AND blocked = w.value ->> 1)
    OR EXISTS (SELECT 1 FROM blocks WHERE blocker = w.value ->> 1 AND blocked = w.value ->> 0);
