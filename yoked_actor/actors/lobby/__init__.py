"""The matchmaker and the sessions."""

from __future__ import annotations

from yoked_actor.actors.lobby.drain import Drain
from yoked_actor.actors.lobby.lease_guard import LeaseGuard
from yoked_actor.actors.lobby.matchmaker import Matchmaker
from yoked_actor.actors.lobby.messages import Message
from yoked_actor.actors.lobby.moved import RoomMoved
from yoked_actor.actors.lobby.room_link import RoomAudience, RoomLink
from yoked_actor.actors.lobby.sessions.context import Connection
from yoked_actor.actors.lobby.sessions.session import Renew, Session
from yoked_actor.actors.lobby.sessions.sessions import Sessions
from yoked_actor.actors.lobby.sessions.suspensions import UserSuspended, notice_of

__all__ = [
    "Connection",
    "Drain",
    "LeaseGuard",
    "Matchmaker",
    "Message",
    "Renew",
    "RoomAudience",
    "RoomLink",
    "RoomMoved",
    "Session",
    "Sessions",
    "UserSuspended",
    "notice_of",
]
