"""Declared rooms: a definition as JSON, and a list of guests.

The guests are rows of their own, so that an erasure finds the user among them. Each change has a
number, so that a process finds out cheaply whether there is something new.
"""

from __future__ import annotations

import msgspec

from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, Tx, record_in


class DeclaredRoom(msgspec.Struct, frozen=True):
    """A room as an operator has declared it."""

    room: str
    definition: str
    """JSON, without the guests."""
    guests: tuple[str, ...] = ()
    """In ascending order."""


class TooManyRooms(Exception):
    """There is no space for one more room."""


class Rooms:
    """The declared rooms. Made by `open_store`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[DeclaredRoom]:
        """All declared rooms, in the order of their ids."""
        return await self._database.read(_all_in)

    async def get(self, room: str) -> DeclaredRoom | None:
        """A declared room."""
        return await self._database.read(lambda tx: _get_in(tx, room))

    async def version(self) -> int:
        """The number of the last change."""
        return await self._database.read(_version_in)

    async def put(
        self, room: DeclaredRoom, by: str, now: Instant, *, most: int | None = None
    ) -> bool:
        """Declare a room, or replace its definition and its guests; recorded in the audit.

        Returns whether it is new. Raises `TooManyRooms` if there were more than `most`.
        """
        return await self._database.write(lambda tx: _put_in(tx, room, by, now, most))

    async def remove(self, room: str, by: str, now: Instant) -> bool:
        """Remove a room, recorded in the audit; False when it is not declared here."""
        return await self._database.write(lambda tx: _remove_in(tx, room, by, now))


def _all_in(tx: Tx) -> list[DeclaredRoom]:
    guests: dict[str, list[str]] = {}
    for room, user_id in tx.execute("SELECT room, user_id FROM room_guests ORDER BY user_id"):
        guests.setdefault(room, []).append(user_id)
    return [
        DeclaredRoom(room, definition, tuple(guests.get(room, ())))
        for room, definition in tx.execute("SELECT id, definition FROM rooms ORDER BY id")
    ]


def _get_in(tx: Tx, room: str) -> DeclaredRoom | None:
    row = tx.execute("SELECT definition FROM rooms WHERE id = ?", (room,)).fetchone()
    if row is None:
        return None
    guests = tx.execute(
        "SELECT user_id FROM room_guests WHERE room = ? ORDER BY user_id", (room,)
    ).fetchall()
    return DeclaredRoom(room, row[0], tuple(user_id for (user_id,) in guests))


def _version_in(tx: Tx) -> int:
    row = tx.execute("SELECT value FROM meta WHERE name = 'rooms'").fetchone()
    return 0 if row is None else int(row[0])


def _changed_in(tx: Tx, by: str, action: str, room: str, now: Instant) -> None:
    tx.execute(
        "INSERT INTO meta (name, value) VALUES ('rooms', 1)"
        " ON CONFLICT (name) DO UPDATE SET value = meta.value + 1"
    )
    record_in(tx, by, action, room, "", now)


def _put_in(tx: Tx, room: DeclaredRoom, by: str, now: Instant, most: int | None) -> bool:
    known = tx.execute("SELECT 1 FROM rooms WHERE id = ?", (room.room,)).fetchone() is not None
    if not known and most is not None:
        row = tx.execute("SELECT count(*) FROM rooms").fetchone()
        assert row is not None
        if row[0] >= most:
            raise TooManyRooms
    tx.execute(
        "INSERT INTO rooms (id, definition) VALUES (?, ?)"
        " ON CONFLICT (id) DO UPDATE SET definition = excluded.definition",
        (room.room, room.definition),
    )
    tx.execute("DELETE FROM room_guests WHERE room = ?", (room.room,))
    rows = [(user_id, room.room) for user_id in dict.fromkeys(room.guests)]
    if rows:
        tx.executemany("INSERT INTO room_guests (user_id, room) VALUES (?, ?)", rows)
    _changed_in(tx, by, "change_room" if known else "add_room", room.room, now)
    return not known


def _remove_in(tx: Tx, room: str, by: str, now: Instant) -> bool:
    tx.execute("DELETE FROM room_guests WHERE room = ?", (room,))
    if tx.execute("DELETE FROM rooms WHERE id = ?", (room,)).rowcount == 0:
        return False
    _changed_in(tx, by, "remove_room", room, now)
    return True
