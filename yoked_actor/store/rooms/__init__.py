"""The rooms that operators have declared, in the database."""

from __future__ import annotations

from yoked_actor.store.rooms.rooms import DeclaredRoom, Rooms, TooManyRooms

__all__ = ["DeclaredRoom", "Rooms", "TooManyRooms"]
