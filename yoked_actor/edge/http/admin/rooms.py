"""Rooms, for operators: list, declare, change and remove them. A change takes effect at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.rooms import (
    BadRoom,
    Declaring,
    NoSuchRoom,
    Registry,
    RoomOfSettings,
    definition_values,
)
from yoked_actor.domain.lobby import MAIN, Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.telemetry import RoomNumbers
from yoked_actor.wire.common import Changed
from yoked_actor.wire.rooms import http

Source = Literal["always", "settings", "database"]


def add_admin_room_calls(
    app: QuartTrio,
    api: Api,
    rooms: Registry,
    *,
    reload: Callable[[], Awaitable[None]],
    wake_others: Callable[[], None],
) -> None:
    """`/api/admin/rooms`. `reload` has the server read the declared rooms again."""
    declaring = Declaring(api.store, api.settings)

    async def applied() -> None:
        await reload()
        wake_others()

    @app.get("/api/admin/rooms")
    async def declared_rooms() -> Response:
        await api.operator(Role.VIEWER)
        now, counts = api.clock.now(), rooms.counts()
        found = [_shown(api, rooms, place, now, counts) for place in _places(rooms)]
        return answer(http.DeclaredRooms(found))

    @app.get("/api/admin/rooms/<room>")
    async def declared_room(room: str) -> Response:
        await api.operator(Role.VIEWER)
        found = [place for place in _places(rooms) if place[0] == room]
        if not found:
            raise Refused(Code.UNKNOWN_ROOM, f"there is no room {room[:32]!r}")
        shown = _shown(api, rooms, found[0], api.clock.now(), rooms.counts(), guests=True)
        return answer(shown)

    @app.put("/api/admin/rooms/<room>")
    async def put_room(room: str) -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.RoomDefinition)
        values = msgspec.structs.asdict(body)
        try:
            is_new = await declaring.replace(room, values, session.user_id, api.clock.now())
        except BadRoom as error:
            raise _refused(error) from None
        await applied()
        return answer(http.PutRoomAnswer(room, is_new))

    @app.delete("/api/admin/rooms/<room>")
    async def remove_room(room: str) -> Response:
        session = await api.operator(Role.ADMIN)
        try:
            await declaring.remove(room, session.user_id, api.clock.now())
        except BadRoom as error:
            raise _refused(error) from None
        await applied()
        return answer(Changed(True))


def _refused(error: BadRoom) -> Refused:
    if isinstance(error, RoomOfSettings):
        return Refused(Code.WRONG_STATE, str(error))
    if isinstance(error, NoSuchRoom):
        return Refused(Code.UNKNOWN_ROOM, str(error))
    return Refused(Code.BAD_REQUEST, str(error))


def _places(rooms: Registry) -> list[tuple[str, Source]]:
    """Each declared room and where it is declared: `main` first, then by id.

    An id that is declared in the settings and in the database is there twice.
    """
    catalogue = rooms.catalogue
    found: list[tuple[str, Source]] = [
        (room, "database" if room in catalogue.stored else "settings")
        for room in catalogue.rooms
        if room != MAIN and room not in catalogue.problems
    ]
    found += [(room, "settings") for room in catalogue.rooms if room in catalogue.problems]
    found += [(room, "database") for room in catalogue.problems]
    return [(MAIN, "always"), *sorted(found, key=lambda one: (one[0], one[1] != "settings"))]


def _shown(
    api: Api,
    rooms: Registry,
    place: tuple[str, Source],
    now: Instant,
    counts: dict[str, RoomNumbers],
    *,
    guests: bool = False,
) -> http.DeclaredRoom:
    room, source = place
    problem = rooms.catalogue.problems.get(room) if source == "database" else None
    declared = rooms.catalogue.get(room) if problem is None else None
    span = None if declared is None else declared.hours.span(now)
    numbers = counts.get(room) if problem is None else None
    values = _values(api, rooms, place)
    invited = values.pop("guests", ())
    if guests and invited:
        values["guests"] = list(invited)
    return http.DeclaredRoom(
        room=room,
        source=source,
        is_open=span is not None and span.holds(now),
        opens_at=None if span is None or span.opens_at is None else to_datetime(span.opens_at),
        closes_at=None if span is None or span.closes_at is None else to_datetime(span.closes_at),
        here=rooms.here(room) if problem is None else 0,
        waiting=0 if numbers is None else numbers.waiting,
        matches=rooms.open_matches(room) if problem is None else 0,
        guests=len(invited),
        definition=http.RoomDefinition(**values),
        problem=problem,
    )


def _values(api: Api, rooms: Registry, place: tuple[str, Source]) -> dict[str, Any]:
    """The keys of a definition, without the code."""
    room, source = place
    values: dict[str, Any] = {}
    if source == "settings" and room in api.settings.rooms:
        values = api.settings.rooms[room].model_dump(mode="json", exclude_defaults=True)
    elif source == "database":
        values = definition_values(rooms.catalogue.stored[room])
    known = http.RoomDefinition.__struct_fields__
    return {key: value for key, value in values.items() if key in known and key != "code"}
