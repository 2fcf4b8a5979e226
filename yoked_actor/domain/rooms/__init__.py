"""Rooms: what an operator declares of one, when it is open, and who may enter."""

from __future__ import annotations

from yoked_actor.domain.rooms.hours import ALWAYS, Hours, Span, Weekly, weekly_of
from yoked_actor.domain.rooms.room import MOST_ROOMS, Entry, Room, is_room_id

__all__ = [
    "ALWAYS",
    "MOST_ROOMS",
    "Entry",
    "Hours",
    "Room",
    "Span",
    "Weekly",
    "is_room_id",
    "weekly_of",
]
