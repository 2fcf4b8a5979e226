-- PostgreSQL. Only the node that serves a user's room may say that the user is in another one.
WITH held AS (
    SELECT 1 FROM room_leases WHERE room = :room AND node = :node AND epoch = :epoch FOR SHARE
)
INSERT INTO seats (user_id, state, credit, room)
SELECT CAST(:user AS text), 'idle', 0, CAST(:target AS text) FROM held
ON CONFLICT (user_id) DO UPDATE SET room = excluded.room WHERE seats.state = 'idle';
