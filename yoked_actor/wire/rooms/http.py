"""Bodies and answers about rooms."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from yoked_actor.domain.rules import PolicyName
from yoked_actor.wire.lobby import InvitationCode


class RoomEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A room that is open or announced."""

    room: str
    name: str
    description: str
    is_open: bool
    here: int
    needs_code: bool
    opens_at: datetime | None = None
    closes_at: datetime | None = None
    capacity: int | None = None


class RoomsAnswer(msgspec.Struct, frozen=True):
    """The rooms that are open or announced, `main` first."""

    rooms: list[RoomEntry]


class EnterBody(msgspec.Struct, frozen=True):
    """The invitation code, for a room that needs one."""

    code: InvitationCode | None = None


class EnterAnswer(msgspec.Struct, frozen=True):
    """The room that the user is in now."""

    room: str


class RoomDefinition(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """What an operator declares of a room: the keys of `[rooms.ID]` in the settings."""

    name: str | None = None
    description: str | None = None
    opens_at: str | None = None
    closes_at: str | None = None
    schedule: list[str] | None = None
    time_zone: str | None = None
    capacity: int | None = None
    entry: Literal["everyone", "code", "list"] | None = None
    code: str | None = None
    guests: list[str] | None = None
    policy: PolicyName | None = None
    starvation_after_s: float | None = None
    tier2_after_s: float | None = None
    tier2_years: int | None = None
    tier2_distance: float | None = None
    tier3_after_s: float | None = None
    tier3_years: int | None = None
    tier3_distance: float | None = None
    forced_after_s: float | None = None
    acknowledge_window_s: float | None = None
    vote_window_s: float | None = None
    date_length_s: float | None = None


class DeclaredRoom(msgspec.Struct, frozen=True, kw_only=True):
    """A room as operators see it: its definition, where it is declared, and who is in it."""

    room: str
    source: Literal["always", "settings", "database"]
    is_open: bool
    opens_at: datetime | None
    closes_at: datetime | None
    here: int
    waiting: int
    matches: int
    guests: int
    definition: RoomDefinition
    problem: str | None = None


class DeclaredRooms(msgspec.Struct, frozen=True):
    """All declared rooms, `main` first."""

    rooms: list[DeclaredRoom]


class PutRoomAnswer(msgspec.Struct, frozen=True):
    """A room was declared or changed."""

    room: str
    is_new: bool
