-- The row stays: its epoch must not be used again.
UPDATE room_leases SET expires_at = clock_timestamp()
WHERE room = :room AND node = :node AND epoch = :epoch;
