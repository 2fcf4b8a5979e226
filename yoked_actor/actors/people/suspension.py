"""Enforces suspensions: removes suspended users, and keeps the list that the edge checks.

A suspension is stored first. Then one task reads all suspensions, removes the users from line,
match and date, notifies them and closes their connections. Until then their commands are ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Sessions
from yoked_actor.actors.people.removal import remove_user
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import Suspension
from yoked_actor.domain.time import Instant
from yoked_actor.settings import StoreSettings
from yoked_actor.store import Store, StoreUnavailable

_log = structlog.get_logger()


class SuspensionsUnread(StoreUnavailable):
    """Suspensions cannot be read now; they are read as soon as possible."""


class SuspensionEnforcer:
    """Removes suspended users of a running server."""

    def __init__(
        self, sessions: Sessions, store: Store, clock: Clock, settings: StoreSettings
    ) -> None:
        self._sessions = sessions
        self._store = store
        self._clock = clock
        self._settings = settings
        self.tell_nodes: Callable[[], None] | None = None
        """Tells other nodes that suspensions have changed."""
        self._is_stale = False
        """Whether suspensions may have changed since they were read."""
        self._removed: dict[str, Instant] = {}
        """The suspended users who have been removed, with the instant of the suspension."""
        self._failure: str | None = None
        """Why suspensions could not be read, while that is so."""
        self._wakeup = Wakeup()
        self._caught_up = trio.lowlevel.ParkingLot()

    async def open(self) -> None:
        """Read suspensions before the first user enters; `run` must have been started.

        With a damaged table of suspensions the server starts all the same, and removes suspended
        users as soon as the table can be read (docs/operations.md says why).
        """
        with suppress(SuspensionsUnread):
            await self._read()

    def refresh_soon(self) -> None:
        """Have `run` read suspensions again: another node has changed them."""
        self._is_stale = True
        self._wakeup.wake()

    async def refresh(self) -> None:
        """Read suspensions, and wait until the users are removed; else `SuspensionsUnread`.

        Other nodes are told to do the same. `run` does the work. If cancelled, only the caller
        stops waiting.
        """
        if self.tell_nodes is not None:
            self.tell_nodes()
        await self._read()

    async def _read(self) -> None:
        self.refresh_soon()
        while self._is_stale or self._still_in():
            if self._failure is not None:
                raise SuspensionsUnread(f"suspensions cannot be read: {self._failure}")
            await self._caught_up.park()

    async def run(self) -> None:
        """Remove suspended users whenever suspensions have changed, until cancelled."""
        delay_s = self._settings.retry_first_s
        if self._failure is not None:
            self._wakeup.wake()
        while True:
            await self._wakeup.wait()
            try:
                await self._catch_up()
                self._failure = None
            except StoreUnavailable as error:
                _log.warning("suspensions_not_read", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)
                self._wakeup.wake()
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
            self._removed = {who: at for who, at in self._removed.items() if who in found}
        while still_in := self._still_in():
            for suspension in still_in:
                why = f"suspended: {suspension.reason}"
                await remove_user(self._sessions, ev.Expel(suspension.user_id), why)
                self._removed[suspension.user_id] = suspension.at

    def _still_in(self) -> list[Suspension]:
        """Suspended users in memory who have not been removed."""
        return [
            one
            for one in self._sessions.suspensions.current()
            if self._removed.get(one.user_id) != one.at and one.user_id in self._sessions
        ]
