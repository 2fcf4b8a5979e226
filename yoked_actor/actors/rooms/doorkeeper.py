"""Who may enter a room: opening times, invitations, capacity, and how often a code may be tried."""

from __future__ import annotations

from collections import deque

import trio

from yoked_actor.actors.lobby import Session, Sessions
from yoked_actor.actors.rooms.registry import Registry
from yoked_actor.actors.rooms.timekeeper import Timekeeper
from yoked_actor.domain.lobby import Code, replies
from yoked_actor.domain.rooms import Room
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.settings import SessionSettings


class Doorkeeper:
    """Lets users enter rooms, or says why not."""

    def __init__(
        self,
        registry: Registry,
        timekeeper: Timekeeper,
        sessions: Sessions,
        settings: SessionSettings,
    ) -> None:
        self._registry = registry
        self._timekeeper = timekeeper
        self._sessions = sessions
        self._settings = settings
        self._tries: dict[str, deque[float]] = {}
        """When users gave a wrong code, on trio's clock; the user who tried last is the last."""

    async def enter(self, user_id: str, room: str, code: str | None) -> replies.Reply:
        """Move a user into a room. A refusal changes nothing.

        Raises `StoreUnavailable` when the room has to be read and cannot be. Checkpoints. If
        cancelled, the user may still be moved.
        """
        session = await self._sessions.enter(user_id)
        if session.link.room == room and not self._is_closed(room):
            return replies.RoomEntered(room)
        refusal = self._refusal(session, room, code)
        if refusal is not None:
            return refusal
        if self._registry.is_elsewhere(room):
            if self._registry.recount is not None and self._has_capacity(room):
                await self._registry.recount()
                if self._registry.is_full(room):
                    return self._full(room)
            return await self._send(session, room)
        target = await self._registry.open(room)
        # Another user may have entered meanwhile, or this one on another door.
        refusal = self._refusal(session, room, code)
        if refusal is not None:
            return refusal
        if session.is_moving:
            return replies.Refusal(Code.WRONG_STATE, "you are on the way to another room")
        moved = trio.Event()
        received: list[replies.Reply] = []
        left = session.link

        def arrive(reply: replies.Reply, now: Instant) -> None:
            received.append(reply)
            moved.set()

        session.move(target.link, arrive)
        await moved.wait()
        if isinstance(received[0], replies.Refusal):
            return received[0]
        self._registry.departed(left)
        self._timekeeper.welcome((user_id,))
        return replies.RoomEntered(room)

    async def _send(self, session: Session, room: str) -> replies.Reply:
        """Send a user to the node that serves a room. Raises `RoomMoved` when that is stored."""
        if session.is_moving:
            return replies.Refusal(Code.WRONG_STATE, "you are on the way to another room")
        left = session.link
        reply = await self._registry.send(session, room)
        if isinstance(reply, replies.Refusal):
            return reply
        self._registry.departed(left)
        raise self._registry.elsewhere_of(room)

    def _is_closed(self, room: str) -> bool:
        declared = self._registry.catalogue.get(room)
        return declared is None or not declared.hours.is_open(self._registry.now())

    def _refusal(self, session: Session, room: str, code: str | None) -> replies.Refusal | None:
        declared = self._registry.catalogue.get(room)
        if declared is None:
            message = f"there is no room {room[:32]!r}; GET /api/rooms lists the rooms"
            return replies.Refusal(Code.UNKNOWN_ROOM, message)
        now = self._registry.now()
        if not declared.hours.is_open(now):
            return replies.Refusal(Code.ROOM_CLOSED, _closed_message(declared, now))
        if not declared.invites(session.user_id):
            message = f"you are not on the list of {declared.name!r}; its organiser can add you"
            return replies.Refusal(Code.FORBIDDEN, message)
        refusal = self._judge_code(session.user_id, declared, code)
        if refusal is not None:
            return refusal
        return self._full(room) if self._registry.is_full(room) else None

    def _full(self, room: str) -> replies.Refusal:
        declared = self._registry.catalogue.get(room)
        name = room if declared is None else declared.name
        return replies.Refusal(Code.ROOM_FULL, f"{name!r} is full; try again later")

    def _has_capacity(self, room: str) -> bool:
        declared = self._registry.catalogue.get(room)
        return declared is not None and declared.capacity is not None

    def _judge_code(self, user_id: str, room: Room, code: str | None) -> replies.Refusal | None:
        tries, settings = self._tries.get(user_id), self._settings
        now_s = trio.current_time()
        if tries is not None:
            while tries and tries[0] <= now_s - settings.wrong_codes_within_s:
                tries.popleft()
            if not tries:
                del self._tries[user_id]
            elif len(tries) >= settings.wrong_codes and not room.accepts(None):
                wait_s = tries[0] + settings.wrong_codes_within_s - now_s
                message = f"too many wrong codes; try again in {wait_s:.0f} s"
                return replies.Refusal(Code.RATE_LIMITED, message)
        if room.accepts(code):
            return None
        if code is None:
            message = f"{room.name!r} needs an invitation code; give it as code"
            return replies.Refusal(Code.WRONG_CODE, message)
        noted = self._tries.pop(user_id, deque())
        noted.append(now_s)
        self._tries[user_id] = noted
        if len(self._tries) > settings.wrong_codes_users:
            del self._tries[next(iter(self._tries))]
        message = f"this is not the code of {room.name!r}; ask its organiser for the code"
        return replies.Refusal(Code.WRONG_CODE, message)


def _closed_message(room: Room, now: Instant) -> str:
    span = room.hours.span(now)
    if span is None or span.opens_at is None:
        return f"{room.name!r} is closed, and does not open again; choose another room"
    opens_at = to_datetime(span.opens_at).isoformat()
    return f"{room.name!r} is closed; it opens at {opens_at}, until then choose another room"
