-- See intake.postgres.sql: its function does the work, and checks the lease of the room.
SELECT pg_temp.intake(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
