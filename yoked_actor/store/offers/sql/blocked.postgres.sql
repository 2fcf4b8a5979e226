-- The pairs of a JSON array that a block of either side keeps apart. Joins, because for EXISTS with OR the
-- planner may read all blocks.
WITH w AS (
    SELECT value ->> 0 AS a, value ->> 1 AS b FROM json_array_elements(CAST(? AS json))
)
SELECT w.a, w.b FROM w JOIN blocks ON blocks.blocker = w.a AND blocks.blocked = w.b
UNION
SELECT w.a, w.b FROM w JOIN blocks ON blocks.blocker = w.b AND blocks.blocked = w.a;
