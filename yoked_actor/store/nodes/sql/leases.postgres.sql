SELECT room, node, epoch, EXTRACT(EPOCH FROM expires_at - clock_timestamp()), here
FROM room_leases ORDER BY room;
