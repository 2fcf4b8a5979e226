"""The declared rooms: those of the settings, and those that operators declared in the database.

A room of the settings wins over one of the database with the same id. `main` is always there.
"""

from __future__ import annotations

import structlog
from pydantic import ValidationError

from yoked_actor.actors.rooms.declaring import definition_values
from yoked_actor.domain.lobby import MAIN
from yoked_actor.domain.rooms import MOST_ROOMS, Room
from yoked_actor.settings import RoomSettings, Settings, room_of
from yoked_actor.store import DeclaredRoom, Store

_log = structlog.get_logger()


class Catalogue:
    """All declared rooms by id. `reload` reads them again."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self.rooms: dict[str, Room] = {}
        self.stored: dict[str, DeclaredRoom] = {}
        """The definitions in the database."""
        self.problems: dict[str, str] = {}
        """Why a definition in the database is not used."""
        self._version = -1

    async def is_outdated(self) -> bool:
        """Whether the rooms in the database have changed. May raise `StoreUnavailable`."""
        return await self._store.rooms.version() != self._version

    async def reload(self) -> None:
        """Read the settings and the database again. A definition that is not usable is skipped."""
        # Read first: a change between the two reads is noticed by the next check.
        version = await self._store.rooms.version()
        stored = {one.room: one for one in await self._store.rooms.all()}
        settings = self._settings
        problems: dict[str, str] = {}
        found = {MAIN: Room(room=MAIN, name=MAIN, rules=settings.rules())}
        for room, values in settings.rooms.items():
            found[room] = room_of(room, values, settings)
        for room, one in stored.items():
            if room in found:
                problems[room] = "the settings declare a room with this id, which is used"
                continue
            if len(found) >= MOST_ROOMS:
                problems[room] = f"there can be at most {MOST_ROOMS} rooms"
                _log.error("too_many_rooms", most=MOST_ROOMS, skipped=room)
                continue
            try:
                given = definition_values(one)
                found[room] = room_of(room, RoomSettings.model_validate(given), settings)
            except (ValueError, ValidationError) as error:
                problems[room] = str(error)[:500]
                _log.error("room_not_usable", room=room, error=str(error)[:500])
        self.rooms, self.stored, self.problems = found, stored, problems
        self._version = version

    def get(self, room: str) -> Room | None:
        """A declared room."""
        return self.rooms.get(room)
