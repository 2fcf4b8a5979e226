-- Rooms. A seat belongs to the room that its user is in; a match, a date and the quality of a match to the room
-- in which they were made. All that was stored before is of the room `main`.

ALTER TABLE seats ADD COLUMN room TEXT NOT NULL DEFAULT 'main';

ALTER TABLE matches ADD COLUMN room TEXT NOT NULL DEFAULT 'main';

ALTER TABLE dates ADD COLUMN room TEXT NOT NULL DEFAULT 'main';

ALTER TABLE quality ADD COLUMN room TEXT NOT NULL DEFAULT 'main';

-- The rooms that operators have declared by a command or in the console, beside those of the settings.
CREATE TABLE rooms (
    id TEXT NOT NULL PRIMARY KEY,
    definition TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

-- Who may enter a room whose guests are on a list. Settings have lists of their own.
CREATE TABLE room_guests (
    user_id TEXT NOT NULL,
    room TEXT NOT NULL,
    PRIMARY KEY (user_id, room)
) STRICT, WITHOUT ROWID;

CREATE INDEX room_guests_by_room ON room_guests (room);
