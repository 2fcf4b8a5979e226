"""Rooms over HTTP: which there are, and entering one."""

from __future__ import annotations

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.rooms import Registry
from yoked_actor.domain.lobby import MAIN
from yoked_actor.domain.rooms import Entry, Room
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.edge.http.api import Api, answer, read_body
from yoked_actor.wire.rooms import http


def add_room_calls(app: QuartTrio, api: Api, rooms: Registry) -> None:
    """`/api/rooms`."""

    @app.get("/api/rooms")
    async def list_rooms() -> Response:
        session = await api.present()
        now = api.clock.now()
        declared = sorted(
            rooms.catalogue.rooms.values(), key=lambda one: (one.room != MAIN, one.room)
        )
        entries = [
            entry
            for one in declared
            if one.invites(session.user_id) and (entry := _entry(rooms, one, now)) is not None
        ]
        return answer(http.RoomsAnswer(entries))

    @app.post("/api/rooms/<room>/enter")
    async def enter(room: str) -> Response:
        session = await api.present()
        has_body = bool(await request.get_data())
        body = await read_body(http.EnterBody) if has_body else http.EnterBody()
        return answer(http.EnterAnswer(await api.enter_room(session, room, body.code)))


def _entry(rooms: Registry, room: Room, now: Instant) -> http.RoomEntry | None:
    """A room that is open or announced; None for one that does not open again."""
    span = room.hours.span(now)
    if span is None:
        return None
    is_open = span.holds(now)
    opens_at = None if is_open or span.opens_at is None else to_datetime(span.opens_at)
    return http.RoomEntry(
        room=room.room,
        name=room.name,
        description=room.description,
        is_open=is_open,
        here=rooms.here(room.room),
        needs_code=room.entry is Entry.CODE,
        opens_at=opens_at,
        closes_at=None if span.closes_at is None else to_datetime(span.closes_at),
        capacity=room.capacity,
    )
