SELECT 1 FROM room_leases WHERE room = :room AND node = :node AND epoch = :epoch;
