-- Several servers over this database: the nodes, and which of them serves which room.
-- Times are those of the database's clock.

CREATE TABLE nodes (
    id text COLLATE "C" PRIMARY KEY,
    url text NOT NULL,
    boot bigint NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL
);

-- A row stays when a lease is released or expires: an epoch is never used twice.
CREATE TABLE room_leases (
    room text COLLATE "C" PRIMARY KEY,
    node text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    expires_at timestamptz NOT NULL
);
