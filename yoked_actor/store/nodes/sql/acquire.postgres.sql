-- PostgreSQL. The epoch grows each time, so that every commit of an earlier owner is refused.
INSERT INTO room_leases (room, node, epoch, expires_at)
VALUES (:room, :node, 1, clock_timestamp() + make_interval(secs => :lease_s))
ON CONFLICT (room) DO UPDATE SET
    node = excluded.node, epoch = room_leases.epoch + 1, expires_at = excluded.expires_at
WHERE room_leases.expires_at <= clock_timestamp()
RETURNING epoch;
