-- As many ids as are asked for, which no job ever had, as one JSON array. The transaction that reads them
-- uses them.
WITH RECURSIVE ids (id, more) AS (
    SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'jobs'), 0) + 1, ?1 - 1
    UNION ALL
    SELECT id + 1, more - 1 FROM ids WHERE more > 0
)
SELECT json_group_array(id) FROM ids;
