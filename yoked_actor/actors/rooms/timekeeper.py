"""The times of rooms: opens and closes the rooms in use, and tells their users of a closing.

One task waits for the next opening or closing. It also reads the declared rooms again after a
reload of the settings, and when another process has changed them in the database.
"""

from __future__ import annotations

from collections.abc import Iterable

import structlog

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Session, Sessions
from yoked_actor.actors.rooms.open_room import OpenRoom
from yoked_actor.actors.rooms.registry import Registry
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.domain.lobby import MAIN, notices
from yoked_actor.domain.rooms import Room
from yoked_actor.domain.time import Instant, after
from yoked_actor.settings import SessionSettings
from yoked_actor.store import StoreUnavailable

_CHECK_S = 86_400.0
"""A schedule without an end in sight is looked at again after this time."""

_log = structlog.get_logger()


class Timekeeper:
    """Keeps the times of the rooms in use, while `run` runs."""

    def __init__(
        self, registry: Registry, sessions: Sessions, clock: Clock, settings: SessionSettings
    ) -> None:
        self._registry = registry
        self._sessions = sessions
        self._clock = clock
        self._settings = settings
        self._wakeup = Wakeup()
        self._is_stale = False
        """Whether the settings may have changed since the declared rooms were read."""
        self._may_differ = False
        """Whether another process may have changed the rooms in the database."""
        registry.opened = self._wakeup.wake

    async def reload(self) -> None:
        """Read the declared rooms again; a room that was removed closes now.

        Checkpoints. Raises `StoreUnavailable`.
        """
        await self._registry.catalogue.reload()
        self._registry.forget_removed()
        self._wakeup.wake()

    def reload_soon(self) -> None:
        """Have `run` read the declared rooms again."""
        self._is_stale = True
        self._wakeup.wake()

    def check_soon(self) -> None:
        """Have `run` read the declared rooms again if they have changed in the database."""
        self._may_differ = True
        self._wakeup.wake()

    async def run(self) -> None:
        """Close and open rooms by their times until cancelled."""
        while True:
            if self._may_differ:
                await self._check()
            if self._is_stale:
                await self.reload()
                self._is_stale = False
            with self._clock.until(self._keep_times(self._clock.now())):
                await self._wakeup.wait()

    async def _check(self) -> None:
        self._may_differ = False
        try:
            if await self._registry.catalogue.is_outdated():
                self._is_stale = True
        except StoreUnavailable:
            self._may_differ = True  # until the next wake-up

    def welcome(self, user_ids: Iterable[str]) -> None:
        """Tell users who entered late or reconnected that their room closes soon."""
        for user_id in user_ids:
            session = self._sessions.of(user_id)
            if session is not None and session.connection is not None:
                self._welcome(session)

    def _welcome(self, session: Session) -> None:
        opened = self._registry.rooms.get(session.link.room)
        if opened is not None and opened.told_of is not None and not opened.lobby.is_closed:
            opened.told.discard(session.user_id)
            self._tell_closing(opened, [session], self._clock.now())

    def _tell_closing(self, opened: OpenRoom, sessions: list[Session], now: Instant) -> None:
        assert opened.told_of is not None
        notice = notices.RoomClosing(opened.room, opened.told_of)
        for session in sessions:
            if session.user_id not in opened.told:
                opened.told.add(session.user_id)
                self._sessions.tell(session.user_id, notice, now)
        self._sessions.flush()

    def _keep_times(self, now: Instant) -> Instant | None:
        """Do what is due, and return when there is something to do next."""
        next_at: list[Instant] = []
        for opened in list(self._registry.rooms.values()):
            if opened.room == MAIN:
                continue
            due = self._keep_time(opened, self._registry.catalogue.get(opened.room), now)
            if due is not None:
                next_at.append(due)
        return min(next_at, default=None)

    def _keep_time(self, opened: OpenRoom, declared: Room | None, now: Instant) -> Instant | None:
        span = None if declared is None else declared.hours.span(now)
        if span is None or not span.holds(now):
            if not opened.lobby.is_closed:
                _log.info("room_closed", room=opened.room, members=opened.link.members)
                opened.matchmaker.close()
                opened.told_of = None
            self._registry.departed(opened.link)
            return None if span is None else span.opens_at
        if opened.lobby.is_closed:
            _log.info("room_opened", room=opened.room)
            opened.matchmaker.reopen()
        if span.closes_at is None:
            opened.told_of = None
            return after(now, _CHECK_S)
        tell_at = after(span.closes_at, -self._settings.room_closing_notice_s)
        if now < tell_at:
            opened.told_of = None
            return tell_at
        if opened.told_of != span.closes_at:
            opened.told_of = span.closes_at
            opened.told.clear()
            self._tell_closing(opened, self._sessions.in_room(opened.link), now)
        return span.closes_at
