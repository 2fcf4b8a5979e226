"""Connections that another node has opened: their users who are here are notified as well.

The node that stores the second answer notifies the users who are connected to it, and tells the
other nodes (NOTIFY). They read the rows that are new. A user whom no notice reaches finds the
connection in the list of connections.
"""

from __future__ import annotations

import structlog
import trio

from yoked_actor.actors.lobby import Sessions
from yoked_actor.actors.offers.user_offers import OpenedConnections
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.settings import StoreSettings
from yoked_actor.store import Store, StoreUnavailable

_OVERLAP = 1000
"""Rows that are read again: of two transactions, the one with the greater number may end first."""
AT_ONCE = 5000
"""The most rows of one read; more than are read again. The next read has the others."""
_log = structlog.get_logger()


class ConnectionNews:
    """Reads new connections when another node tells of some."""

    def __init__(
        self, sessions: Sessions, store: Store, settings: StoreSettings, opened: OpenedConnections
    ) -> None:
        self._sessions = sessions
        self._offers = store.offers
        self._settings = settings
        self._opened = opened
        self._newest: int | None = None
        """The greatest number that was read; None before the first read."""
        self._known: set[int] = set()
        """Connections of the last numbers whose users need not be notified again."""
        self._wakeup = Wakeup()
        opened.claim = self._claim

    def read_soon(self) -> None:
        """Another node may have opened a connection."""
        self._wakeup.wake()

    async def run(self) -> None:
        """Read until cancelled. Nobody is notified of connections that exist at the start."""
        delay_s = self._settings.retry_first_s
        self._wakeup.wake()
        while True:
            await self._wakeup.wait()
            try:
                await self._read()
                delay_s = self._settings.retry_first_s
            except StoreUnavailable as error:
                _log.warning("connections_not_read", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)
                self._wakeup.wake()

    def _claim(self, connection_id: str) -> bool:
        number = int(connection_id[1:])
        is_new = number not in self._known
        self._known.add(number)
        return is_new

    async def _read(self) -> None:
        if self._newest is None:
            self._newest = await self._offers.newest_connection()
            self._known.update(range(self._newest - _OVERLAP + 1, self._newest + 1))
            return
        is_connected = self._sessions.is_connected
        found = await self._offers.connections_after(self._newest - _OVERLAP, at_most=AT_ONCE)
        if len(found) == AT_ONCE:
            self._wakeup.wake()
        for user_id, one in found:
            self._newest = max(self._newest, int(one.connection_id[1:]))
            if self._claim(one.connection_id) and (
                is_connected(user_id) or is_connected(one.partner)
            ):
                self._opened.waiting.append((user_id, one))
                self._opened.wakeup.wake()
        self._known = {number for number in self._known if number > self._newest - _OVERLAP}
