-- Count a start of a server on this data directory.
INSERT INTO meta (name, value) VALUES ('boot', 1)
ON CONFLICT (name) DO UPDATE SET value = meta.value + 1
RETURNING value;
