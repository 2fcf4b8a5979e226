-- The time of the database, in microseconds.
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint);
