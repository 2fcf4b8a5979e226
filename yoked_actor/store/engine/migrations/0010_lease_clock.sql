-- The scale on which jobs.lease_until is measured: the time of the machine since it was started, plus `ahead`
-- microseconds. Written once in each boot. See store/lease_clock.py.
CREATE TABLE lease_clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    boot TEXT NOT NULL,
    ahead INTEGER NOT NULL
) STRICT;
