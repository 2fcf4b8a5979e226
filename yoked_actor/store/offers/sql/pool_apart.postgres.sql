-- The pairs of these people that are kept apart: blocked, met (recently), connected.
SELECT b.blocker, b.blocked FROM json_array_elements_text(CAST(:people AS json)) AS p (value) JOIN blocks AS b ON b.blocker = p.value
UNION ALL
SELECT m.a, m.b FROM json_array_elements_text(CAST(:people AS json)) AS p (value) JOIN met AS m ON m.a = p.value
WHERE CAST(:met_after AS bigint) IS NULL OR m.met_at > :met_after
UNION ALL
SELECT c.a, c.b FROM json_array_elements_text(CAST(:people AS json)) AS p (value) JOIN connections AS c ON c.a = p.value;
