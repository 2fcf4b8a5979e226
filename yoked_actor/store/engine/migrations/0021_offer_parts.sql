-- The sets of a run, made once for all workers: users with adjacent ids together, compressed. Kept until the
-- run is checked.
CREATE TABLE offer_parts (
    day TEXT NOT NULL,
    zone TEXT NOT NULL,
    first_user TEXT NOT NULL,
    inputs TEXT NOT NULL, -- digest of what the sets were made from
    content BLOB NOT NULL,
    PRIMARY KEY (day, zone, first_user)
) STRICT;
