"""Rooms: which there are, one matchmaker for each that is in use, and who may enter."""

from __future__ import annotations

from yoked_actor.actors.rooms.catalogue import Catalogue
from yoked_actor.actors.rooms.declaring import (
    BadRoom,
    Declaring,
    NoSuchRoom,
    RoomOfSettings,
    definition_values,
)
from yoked_actor.actors.rooms.doorkeeper import Doorkeeper
from yoked_actor.actors.rooms.open_room import OpenRoom
from yoked_actor.actors.rooms.registry import Registry
from yoked_actor.actors.rooms.timekeeper import Timekeeper

__all__ = [
    "BadRoom",
    "Catalogue",
    "Declaring",
    "Doorkeeper",
    "NoSuchRoom",
    "OpenRoom",
    "Registry",
    "RoomOfSettings",
    "Timekeeper",
    "definition_values",
]
