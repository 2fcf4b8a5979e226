"""Rooms that operators declare in the database: what may be declared, changed and removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from yoked_actor.domain.lobby import MAIN
from yoked_actor.domain.rooms import MOST_ROOMS, is_room_id
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings, room_problem
from yoked_actor.store import DeclaredRoom, Store, TooManyRooms


class BadRoom(Exception):
    """A definition of a room cannot be used."""


class RoomOfSettings(BadRoom):
    """A room is declared in the settings, or always exists: it cannot be changed elsewhere."""


class NoSuchRoom(BadRoom):
    """A room is not declared in the database."""

    def __init__(self, room: str) -> None:
        super().__init__(f"there is no room {room[:32]!r} in the database; add it first")


class Declaring:
    """Declares, changes and removes rooms of the database. Each change is in the audit."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    async def add(self, room: str, values: Mapping[str, Any], by: str, now: Instant) -> None:
        """Declare a room. Raises `BadRoom`; a room that exists stays as it is."""
        made = self._checked(room, values)
        if room in self._settings.rooms or await self._store.rooms.get(room) is not None:
            raise BadRoom(f"there is a room {room!r} already; change it")
        await self._put(made, by, now)

    async def change(self, room: str, values: Mapping[str, Any], by: str, now: Instant) -> None:
        """Change keys of a declared room; an empty text removes a key. Raises `BadRoom`."""
        found = await self._store.rooms.get(room)
        if found is None:
            raise NoSuchRoom(room)
        merged = {**definition_values(found), **values}
        kept = {key: value for key, value in merged.items() if value != ""}
        await self._put(definition_of(room, kept, self._settings), by, now)

    async def replace(self, room: str, values: Mapping[str, Any], by: str, now: Instant) -> bool:
        """Declare a room, or replace its definition; returns whether it is new.

        A code or guests that are not given stay as they are. Raises `BadRoom`.
        """
        self._check_place(room)
        found = await self._store.rooms.get(room)
        kept: dict[str, Any] = {}
        if found is not None:
            before = definition_values(found)
            kept = {key: before[key] for key in ("code", "guests") if key in before}
        given = {key: value for key, value in values.items() if value is not None}
        merged = {key: value for key, value in {**kept, **given}.items() if value != ""}
        return await self._put(self._checked(room, merged), by, now)

    async def remove(self, room: str, by: str, now: Instant) -> None:
        """Remove a room. Raises `BadRoom`."""
        self._check_place(room)
        if not await self._store.rooms.remove(room, by, now):
            raise NoSuchRoom(room)

    def _check_place(self, room: str) -> None:
        if room == MAIN:
            raise RoomOfSettings("the room main always exists; its rules are those of the settings")
        if room in self._settings.rooms:
            raise RoomOfSettings(
                f"the room {room!r} is declared in the settings; change [rooms.{room}] there,"
                " and reload"
            )

    def _checked(self, room: str, values: Mapping[str, Any]) -> DeclaredRoom:
        return definition_of(room, values, self._settings)

    async def _put(self, made: DeclaredRoom, by: str, now: Instant) -> bool:
        most = MOST_ROOMS - 1 - len(self._settings.rooms)
        try:
            return await self._store.rooms.put(made, by, now, most=most)
        except TooManyRooms:
            raise BadRoom(f"there can be at most {MOST_ROOMS} rooms; remove one") from None


def definition_of(room: str, values: Mapping[str, Any], settings: Settings) -> DeclaredRoom:
    """A definition as it is stored. Raises `BadRoom`, which says what to change."""
    if not is_room_id(room):
        raise BadRoom(f"{room[:64]!r} is no id of a room: 1 to 32 of a-z, 0-9, _ and -")
    if room == MAIN:
        raise BadRoom("the room main always exists, and its rules are those of the settings")
    given = {key: value for key, value in values.items() if value is not None}
    problem = room_problem(room, given, settings)
    if problem is not None:
        raise BadRoom(problem)
    guests = tuple(sorted(set(given.pop("guests", ()))))
    return DeclaredRoom(room, msgspec.json.encode(given).decode(), guests)


def definition_values(stored: DeclaredRoom) -> dict[str, Any]:
    """The keys of a stored definition, with the guests."""
    values: dict[str, Any] = msgspec.json.decode(stored.definition)
    return {**values, "guests": list(stored.guests)} if stored.guests else values
