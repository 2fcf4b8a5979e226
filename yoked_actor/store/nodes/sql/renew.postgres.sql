-- A lease that has expired is renewed too, if no other node has taken the room.
UPDATE room_leases
SET expires_at = clock_timestamp() + make_interval(secs => :lease_s), here = held.here
FROM json_to_recordset(CAST(:held AS json)) AS held (room text, epoch bigint, here bigint)
WHERE room_leases.room = held.room
  AND room_leases.epoch = held.epoch
  AND room_leases.node = :node
RETURNING room_leases.room;
