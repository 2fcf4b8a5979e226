"""A room as an operator has declared it."""

from __future__ import annotations

import re
from enum import StrEnum
from hmac import compare_digest

import msgspec

from yoked_actor.domain.rooms.hours import ALWAYS, Hours
from yoked_actor.domain.rules import Rules

MOST_ROOMS = 1_000
"""The most rooms of a server: metrics have the room as a label."""
_ROOM_ID = re.compile(r"[a-z0-9_-]{1,32}")


def is_room_id(text: str) -> bool:
    """Whether a text can be the id of a room."""
    return _ROOM_ID.fullmatch(text) is not None


class Entry(StrEnum):
    """Who may enter a room."""

    EVERYONE = "everyone"
    CODE = "code"
    LIST = "list"


class Room(msgspec.Struct, frozen=True, kw_only=True):
    """A declared room."""

    room: str
    name: str
    description: str = ""
    hours: Hours = ALWAYS
    capacity: int | None = None
    entry: Entry = Entry.EVERYONE
    code: str = ""
    guests: frozenset[str] = frozenset()
    rules: Rules = Rules()

    def invites(self, user_id: str) -> bool:
        """Whether a user is on the list; without a list everybody is."""
        return self.entry is not Entry.LIST or user_id in self.guests

    def accepts(self, code: str | None) -> bool:
        """Whether an invitation code is the right one; without a code every one is."""
        if self.entry is not Entry.CODE:
            return True
        return code is not None and compare_digest(code.encode(), self.code.encode())
