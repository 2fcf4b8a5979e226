"""Rooms over HTTP."""

from __future__ import annotations

from yoked_actor.wire.rooms import http
from yoked_actor.wire.rooms.calls import ROOM_CALLS

__all__ = ["ROOM_CALLS", "http"]
