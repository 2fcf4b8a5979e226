-- How many users are in a room, as its node writes with each renewal: for the lists of other nodes.
ALTER TABLE room_leases ADD COLUMN here bigint NOT NULL DEFAULT 0;
