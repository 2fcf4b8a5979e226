SELECT room, node, epoch, EXTRACT(EPOCH FROM expires_at - clock_timestamp())
FROM room_leases ORDER BY room;
