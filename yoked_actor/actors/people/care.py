"""Care for people: erasing them when they ask for it, keeping out those who are suspended.

An erasure goes through the matchmaker like everything else: the user leaves their match or date,
and the rows that name them are erased in the transaction that stores that (so nobody is ever half
erased); then those who were left are told, and the user's socket is closed. Last, the write-ahead
log is cut, so that the old pages are gone from the disk too.

A suspension is stored first; then one task reads who is suspended, takes those out of line, match
and date, tells them and closes their sockets. Until then nothing they say is listened to.
"""

from __future__ import annotations

import secrets
from contextlib import suppress

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Session, Sessions, notice_of
from yoked_actor.domain.lobby import TOMBSTONE, notices
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import Suspension
from yoked_actor.domain.time import Instant
from yoked_actor.settings import StoreSettings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.wire.close_codes import CloseCode

_log = structlog.get_logger()


def new_tombstone() -> str:
    """What stands for an erased user. It is drawn by lots: nothing leads back from it."""
    return f"{TOMBSTONE}{secrets.token_hex(16)}"


class SuspensionsUnread(StoreUnavailable):
    """Who is suspended cannot be read just now; it is read as soon as it can be."""


class Care:
    """Erases and suspends users of a running server."""

    def __init__(
        self, sessions: Sessions, store: Store, clock: Clock, settings: StoreSettings
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._clock = clock
        self._settings = settings
        self._is_stale = False
        """Whether suspensions may have changed since they were read."""
        self._out: dict[str, Instant] = {}
        """Which suspended users have been taken out, with the instant of the suspension."""
        self._failure: str | None = None
        """Why suspensions could not be read, while that is so."""
        self._wanted = trio.Event()
        self._caught_up = trio.lowlevel.ParkingLot()

    async def erase(self, user_id: str) -> str:
        """Erase a user, wherever they are; returns their tombstone when it is on the disk."""
        privacy, tombstone = self._store.privacy, new_tombstone()
        await privacy.look_up(user_id, self._clock.now())
        session = await self._sessions.enter(user_id)
        await self._put_out(session, ev.Erase(user_id, tombstone), "this account was erased")
        _log.info("user_erased", tombstone=tombstone)
        if not await privacy.wipe():
            _log.warning("log_not_cut", advice="a long read keeps old pages; tried again daily")
        return tombstone

    async def open(self) -> None:
        """Learn who is suspended before anybody comes in.

        A server whose table of suspensions is damaged lets people in all the same; as soon as the
        table can be read, suspended users are taken out (docs/operations.md says why).
        """
        with suppress(SuspensionsUnread):
            await self.refresh()

    async def refresh(self) -> None:
        """Learn who is suspended now, and wait until they are out; else `SuspensionsUnread`.

        `run` does it. A caller who is cancelled has only stopped waiting.
        """
        self._is_stale = True
        self._wanted.set()
        while self._is_stale or self._still_in():
            if self._failure is not None:
                raise SuspensionsUnread(f"suspensions cannot be read: {self._failure}")
            await self._caught_up.park()

    async def run(self) -> None:
        """Take suspended users out whenever suspensions have changed, until cancelled."""
        delay_s = self._settings.retry_first_s
        if self._failure is not None:
            self._wanted.set()
        while True:
            await self._wanted.wait()
            self._wanted = trio.Event()
            try:
                await self._catch_up()
                self._failure = None
            except StoreUnavailable as error:
                _log.warning("suspensions_not_read", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)
                self._wanted.set()
            except Exception as error:
                self._failure = str(error)
                self._caught_up.unpark_all()
                raise
            else:
                delay_s = self._settings.retry_first_s
                self._caught_up.unpark_all()

    async def _catch_up(self) -> None:
        suspensions = self._sessions.suspensions
        if self._is_stale:
            self._is_stale = False
            try:
                found = await self._store.operators.suspensions(self._clock.now())
            except BaseException:
                self._is_stale = True
                raise
            suspensions.replace(found.values())
            self._out = {who: at for who, at in self._out.items() if who in found}
        while still_in := self._still_in():
            for suspension in still_in:
                user_id = suspension.user_id
                session = await self._sessions.enter(user_id)
                await self._put_out(session, ev.Expel(user_id), "suspended")
                self._out[user_id] = suspension.at

    def _still_in(self) -> list[Suspension]:
        """Suspended users in memory who have not been taken out."""
        return [
            one
            for one in self._sessions.suspensions.current()
            if self._out.get(one.user_id) != one.at and one.user_id in self._sessions
        ]

    async def _put_out(self, session: Session, event: ev.Event, reason: str) -> None:
        """Put an event that ends a user's stay, and hang up when it is stored."""
        suspensions = self._sessions.suspensions

        def leave(reply: notices.Reply, now: Instant) -> None:
            suspension = suspensions.of(session.user_id)
            if isinstance(event, ev.Erase):
                suspensions.drop(session.user_id)
            elif suspension is not None and session.connection is not None:
                session.tell(notice_of(suspension), now)
            session.reset()
            session.close_connection(CloseCode.UNAUTHORIZED, reason)

        await session.wait_for_room()
        await session.ask(event, leave)
