-- See intake.sql: its triggers do the work.
INSERT INTO intake (seats, matches, dates, met, bars, blocks, unmet, unbarred, unblocked, quality, room)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
