-- The row stays: its epoch must not be used again.
UPDATE room_leases SET expires_at = clock_timestamp(), here = 0
FROM json_to_recordset(CAST(:held AS json)) AS held (room text, epoch bigint)
WHERE room_leases.room = held.room
  AND room_leases.epoch = held.epoch
  AND room_leases.node = :node;
