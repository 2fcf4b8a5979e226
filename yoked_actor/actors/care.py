"""Care for people: erasing them when they ask for it, keeping out those who are suspended.

An erasure goes through the matchmaker like everything else: the user leaves their match or date,
and the rows that name them are erased in the transaction that stores that (so nobody is ever half
erased); then those who were left are told, and the user's socket is closed. Last, the write-ahead
log is cut, so that the old pages are gone from the disk too.

Who is suspended is kept in memory, because every hello and every call asks.
"""

from __future__ import annotations

import secrets

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.session import Session
from yoked_actor.actors.sessions import Sessions
from yoked_actor.domain import events as ev
from yoked_actor.domain import notices as told
from yoked_actor.domain.instants import Instant
from yoked_actor.domain.records import TOMBSTONE
from yoked_actor.store import Store

_log = structlog.get_logger()

NO_LONGER_WELCOME = 4003
"""The close code of a token that is not taken: clients do not come back by themselves."""


def new_tombstone() -> str:
    """What stands for an erased user. It is drawn by lots: nothing leads back from it."""
    return f"{TOMBSTONE}{secrets.token_hex(16)}"


class Care:
    """Erases and suspends users of a running server."""

    def __init__(self, sessions: Sessions, store: Store, clock: Clock) -> None:
        self._sessions = sessions
        self._store = store
        self._clock = clock

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

    async def load(self) -> None:
        """Learn who is suspended, before anybody comes in."""
        self._sessions.suspended = await self._store.operators.suspensions()

    async def refresh(self) -> None:
        """Learn who is suspended now, and take those out who are still in memory."""
        await self.load()
        for user_id in list(self._sessions.suspended):
            if user_id in self._sessions:
                session = await self._sessions.enter(user_id)
                await self._put_out(session, ev.Expel(user_id), "suspended")

    async def _put_out(self, session: Session, event: ev.Event, reason: str) -> None:
        """Put an event that ends a user's stay, and hang up when it is stored."""
        done = trio.Event()

        def answered(reply: told.Reply, now: Instant) -> None:
            session.start_anew()
            session.hang_up(NO_LONGER_WELCOME, reason)
            done.set()

        session.post(event, answered)
        await done.wait()
