-- See intake.postgres.sql: its function does the work.
SELECT pg_temp.intake(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);
