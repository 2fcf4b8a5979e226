"""The HTTP calls about rooms, as rows of the table of calls."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.wire.call import Call
from yoked_actor.wire.common import Changed
from yoked_actor.wire.rooms import http

_MAIN = http.RoomEntry("main", "main", "", is_open=True, here=12, needs_code=False)
_EVENING = http.RoomEntry(
    "friday",
    "Friday evening",
    "For people who like jazz.",
    is_open=True,
    here=40,
    needs_code=True,
    closes_at=datetime(2026, 1, 2, 22, 0, 0, tzinfo=UTC),
    capacity=100,
)
_DEFINITION = http.RoomDefinition(
    name="Friday evening",
    description="For people who like jazz.",
    schedule=["fri 20:00-23:00"],
    time_zone="Europe/Berlin",
    capacity=100,
    entry="code",
    date_length_s=600.0,
)
_DECLARED = http.DeclaredRoom(
    room="friday",
    source="database",
    is_open=True,
    opens_at=datetime(2026, 1, 2, 19, 0, 0, tzinfo=UTC),
    closes_at=datetime(2026, 1, 2, 22, 0, 0, tzinfo=UTC),
    here=40,
    waiting=6,
    matches=17,
    guests=0,
    definition=_DEFINITION,
)

ROOM_CALLS: tuple[Call, ...] = (
    Call(
        "GET",
        "/api/rooms",
        "Rooms",
        "List the rooms that are open or announced, and how many users are in each.",
        http.RoomsAnswer([_MAIN, _EVENING]),
    ),
    Call(
        "POST",
        "/api/rooms/{room}/enter",
        "Rooms",
        "Go into another room, while you are idle.",
        http.EnterAnswer("friday"),
        http.EnterBody("come-in"),
        refusals=(
            Code.UNKNOWN_ROOM,
            Code.ROOM_CLOSED,
            Code.ROOM_FULL,
            Code.WRONG_CODE,
            Code.WRONG_STATE,
        ),
    ),
    Call(
        "GET",
        "/api/admin/rooms",
        "Operation",
        "List all declared rooms, and who is in them. Codes and lists of guests are left out.",
        http.DeclaredRooms([_DECLARED]),
        refusals=(Code.FORBIDDEN,),
        needs=Role.VIEWER,
    ),
    Call(
        "GET",
        "/api/admin/rooms/{room}",
        "Operation",
        "One declared room, with its guests. Its code is never shown.",
        _DECLARED,
        refusals=(Code.FORBIDDEN, Code.UNKNOWN_ROOM),
        needs=Role.VIEWER,
    ),
    Call(
        "PUT",
        "/api/admin/rooms/{room}",
        "Operation",
        "Declare a room in the database, or replace its definition. Its code and its guests stay"
        " if they are not given.",
        http.PutRoomAnswer("friday", True),
        msgspec.structs.replace(_DEFINITION, code="come-in"),
        refusals=(Code.FORBIDDEN, Code.BAD_REQUEST, Code.WRONG_STATE),
        needs=Role.ADMIN,
    ),
    Call(
        "DELETE",
        "/api/admin/rooms/{room}",
        "Operation",
        "Remove a room from the database. It closes now; its matches and dates run out.",
        Changed(True),
        refusals=(Code.FORBIDDEN, Code.UNKNOWN_ROOM, Code.WRONG_STATE),
        needs=Role.ADMIN,
    ),
)
"""Every call about rooms."""
