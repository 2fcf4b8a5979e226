"""Delivers daily offers to connected users, and notifies both users of a new connection (R44).

A connected user gets a set soon after it is stored; another user gets it on connecting. One task
delivers to many users at a time: it reads the sets that were not delivered, sends them to users who
are connected, then records that. A crash in between repeats a delivery with the same ids.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Sessions
from yoked_actor.actors.offers.user_offers import OpenedConnections, pairs_of, view_of
from yoked_actor.domain.lobby import notices
from yoked_actor.domain.people import ShownPlaces
from yoked_actor.settings import Settings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.telemetry import Metrics

T = TypeVar("T")
USERS_AT_ONCE = 500
"""How many users' sets are read, sent and recorded together."""
CHECK_EVERY_S = 1.0

_log = structlog.get_logger()


class OfferDelivery:
    """Sends sets of offers and notices of connections to connected users."""

    def __init__(
        self,
        store: Store,
        sessions: Sessions,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        opened: OpenedConnections,
        places: ShownPlaces,
    ) -> None:
        self._offers = store.offers
        self._sessions = sessions
        self._clock = clock
        self._settings = settings.store
        self._metrics = metrics.desk
        self._opened = opened.waiting
        self._wakeup = opened.wakeup
        self._places = places
        self._wanted: dict[str, None] = {}
        """Users who may have a set that was not delivered."""
        self._check_all = False
        self._next_check_s = 0.0

    def wake(self, user_ids: Iterable[str] | None = None) -> None:
        """Deliver the stored sets of these users, if they are connected.

        Without ids, look for sets of all connected users, at most once a second: another process
        may have stored some.
        """
        if user_ids is None:
            self._check_all = True
        else:
            for user_id in user_ids:
                if self._sessions.is_connected(user_id):
                    self._wanted[user_id] = None
        self._wakeup.wake()

    async def run(self) -> None:
        """Deliver until cancelled.

        It starts with all connected users: an error may have left sets undelivered.
        """
        self.wake()
        while True:
            await self._wait_for_work()
            await self._notify_of_connections()
            batch = list(islice(self._wanted, USERS_AT_ONCE))
            for user_id in batch:
                del self._wanted[user_id]
            if batch:
                await self._deliver(batch)

    async def _wait_for_work(self) -> None:
        while True:
            if self._check_all and trio.current_time() >= self._next_check_s:
                self._check_all = False
                self._next_check_s = trio.current_time() + CHECK_EVERY_S
                self._wanted.update(dict.fromkeys(self._sessions.connected()))
            if self._wanted or self._opened:
                return
            with trio.move_on_at(self._next_check_s if self._check_all else float("inf")):
                await self._wakeup.wait()

    async def _deliver(self, user_ids: Sequence[str]) -> None:
        now = self._clock.now()
        sets = await self._retry(lambda: self._offers.undelivered(user_ids, now))
        if not sets:
            return
        faces = await self._retry(lambda: self._offers.faces(pairs_of(sets), now))
        now = self._clock.now()
        delivered = []
        for kept in sets:
            made = kept.offers
            if made.offers and made.user_id not in faces.people:
                continue  # just suspended: delivered when the suspension ends
            if self._sessions.is_connected(made.user_id) and made.expires_at > now:
                self._sessions.tell(made.user_id, view_of(kept, faces, self._places, now), now)
                delivered.append((made.user_id, made.day))
        self._sessions.flush()
        if delivered:
            await self._retry(lambda: self._offers.record_deliveries(delivered, now))
            self._metrics.pushed.inc(len(delivered))
            _log.info("offers_delivered", sets=len(delivered))

    async def _notify_of_connections(self) -> None:
        if not self._opened:
            return
        opened = list(self._opened)
        sides = [
            side
            for user_id, one in opened
            for side in ((user_id, one.partner), (one.partner, user_id))
        ]
        now = self._clock.now()
        faces = await self._retry(lambda: self._offers.faces(sides, now))
        for user_id, connection in opened:
            self._opened.popleft()
            for viewer, other in ((user_id, connection.partner), (connection.partner, user_id)):
                card = faces.of(viewer, other, self._places, now)
                if card is not None:
                    notice = notices.ConnectionOpened(
                        connection.connection_id, card, connection.source
                    )
                    self._sessions.tell(viewer, notice, now)
        self._sessions.flush()

    async def _retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Call the store until it is available."""
        delay_s = self._settings.retry_first_s
        while True:
            try:
                return await call()
            except StoreUnavailable as error:
                _log.warning("offers_not_delivered", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)
