"""Sends the warnings of operators to their users, until the users have seen them.

A warning is stored first. A connected user gets it at once, another user after the next hello. It
is sent again after every hello until the user says that it was seen, so a client recognises it by
its id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Sessions
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.domain.lobby import notices
from yoked_actor.settings import StoreSettings
from yoked_actor.store import Store, StoreUnavailable

_log = structlog.get_logger()


class WarningDelivery:
    """Sends warnings that were not seen to connected users."""

    def __init__(
        self, sessions: Sessions, store: Store, clock: Clock, settings: StoreSettings
    ) -> None:
        self._sessions = sessions
        self._store = store.moderation
        self._clock = clock
        self._settings = settings
        self.tell_nodes: Callable[[], None] | None = None
        """Tells other nodes that there is a new warning."""
        self._warned: set[str] | None = None
        """Users who may have warnings that they have not seen; None before they are read."""
        self._is_stale = False
        """Whether other users may have warnings by now."""
        self._wanted: dict[str, None] = {}
        self._wakeup = Wakeup()

    def read_soon(self) -> None:
        """Read again who has warnings: another node may have stored one."""
        self._is_stale = True
        self._wakeup.wake()

    def warned(self, user_id: str) -> None:
        """A warning of this user was stored. Other nodes are told."""
        if self.tell_nodes is not None:
            self.tell_nodes()
        if self._warned is not None:
            self._warned.add(user_id)
        self.wake((user_id,))

    def wake(self, user_ids: Iterable[str]) -> None:
        """Send these users their warnings, if they have any and are connected."""
        for user_id in user_ids:
            if self._warned is None or user_id in self._warned:
                self._wanted[user_id] = None
        if self._wanted:
            self._wakeup.wake()

    async def run(self) -> None:
        """Send until cancelled. It starts with all connected users."""
        delay_s = self._settings.retry_first_s
        self._warned = None
        self.wake(self._sessions.connected())
        self._wakeup.wake()
        while True:
            await self._wakeup.wait()
            try:
                await self._send()
                delay_s = self._settings.retry_first_s
            except StoreUnavailable as error:
                _log.warning("warnings_not_sent", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)
                self._wakeup.wake()

    async def _send(self) -> None:
        if self._warned is None:
            known = await self._store.users_with_unseen()
            self._warned = known
            self._wanted = {one: None for one in self._wanted if one in known}
        elif self._is_stale:
            self._is_stale = False
            known = await self._store.users_with_unseen()
            self._wanted |= dict.fromkeys(known - self._warned)
            self._warned |= known
        wanted = list(self._wanted)
        if not wanted:
            return
        found = await self._store.unseen(wanted)
        now = self._clock.now()
        for one in found:
            if self._sessions.is_connected(one.user_id):
                notice = notices.Warned(one.warning_id, one.text, one.at)
                self._sessions.tell(one.user_id, notice, now)
        for user_id in wanted:
            self._wanted.pop(user_id, None)
        # The user has seen them all, or was erased.
        self._warned -= set(wanted) - {one.user_id for one in found}
        self._sessions.flush()
