-- The other nodes read the leases again when the transaction is committed.
SELECT pg_notify('yoked_nodes', 'leases ' || CAST(:node AS text));
