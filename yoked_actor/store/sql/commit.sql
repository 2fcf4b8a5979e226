-- See intake.sql: the trigger there does the work.
INSERT INTO intake (seats, matches, dates, met, bars, blocks, unmet, unbarred, unblocked)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);
