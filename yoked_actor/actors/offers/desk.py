"""The desk of the daily offers: hands sets out, takes answers, tells of connections (R44).

Whoever is connected when their set is stored is told soon after; whoever was not, when they
connect. One task does all the telling, many people at a time: it reads the sets that nobody was
told of yet, tells those who listen, then records that. A crash in between repeats a delivery, with
the same ids. Nothing is shown of somebody who is blocked, by either side, who is suspended, or who
has no profile any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date
from itertools import islice
from typing import TypeVar

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import Sessions
from yoked_actor.domain.lobby import Code, OfferView, notices
from yoked_actor.domain.offers import ONE, shown_points
from yoked_actor.domain.people import Card, ShownPlaces
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import (
    Answer,
    AnswerGiven,
    Connection,
    Faces,
    KeptSet,
    NoSuchOffer,
    OfferExpired,
    Store,
    StoreUnavailable,
)
from yoked_actor.telemetry import Metrics

T = TypeVar("T")
USERS_AT_ONCE = 500
"""How many users' sets are read, told and recorded together."""
LOOK_EVERY_S = 1.0

_log = structlog.get_logger()


class ConnectionView(msgspec.Struct, frozen=True):
    """A connection, as one of the two sees it."""

    connection_id: str
    partner: Card
    opened_at: Instant
    online: bool


class OfferDesk:
    """Where users get their offers, whichever door they come through."""

    def __init__(
        self,
        store: Store,
        sessions: Sessions,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        *,
        is_online: Callable[[str, Instant], bool],
        places: ShownPlaces,
    ) -> None:
        """`places` says where everybody is shown to be."""
        self._places = places
        self._offers = store.offers
        self._sessions = sessions
        self._clock = clock
        self._settings = settings.store
        self._metrics = metrics.desk
        self._is_online = is_online
        self._wanted: dict[str, None] = {}
        """Who may have a set that they were not told of."""
        self._opened: deque[tuple[str, Connection]] = deque()
        """Opened connections, of which both sides have yet to be notified."""
        self._wants_look = False
        self._next_look = 0.0
        self._wakeup = trio.Event()

    # For those who know of something new

    def wake(self, user_ids: Iterable[str] | None = None) -> None:
        """Deliver the stored sets of these users, if they are connected.

        Without ids, look for sets of all connected users, at most once a second: another process
        may have stored some.
        """
        if user_ids is None:
            self._wants_look = True
        else:
            for user_id in user_ids:
                if self._sessions.is_connected(user_id):
                    self._wanted[user_id] = None
        self._wakeup.set()

    # For the doors

    async def current(self, user_id: str, day: date | None = None) -> notices.OffersMade | None:
        """A user's set of a day, or the newest that has not expired; a fetch is a delivery."""
        now = self._clock.now()
        if day is not None:
            kept = await self._offers.load_set(user_id, day)
        else:
            newest = await self._offers.load_sets(user_id, 1)
            kept = newest[0] if newest and newest[0].offers.expires_at > now else None
        if kept is None:
            return None
        faces = await self._offers.faces(_pairs([kept]), now)
        await self._offers.record_delivery(user_id, kept.offers.day, now)
        self._metrics.fetched.inc()
        return _view(kept, faces, self._places, now)

    async def answer(self, user_id: str, offer_id: str, answer: str) -> notices.Reply:
        """Take an answer. If it opens a connection, both are told after the caller has replied."""
        # Whoever asks may hang up meanwhile: what was committed has to be told all the same.
        with trio.CancelScope(shield=True):
            try:
                answered = await self._offers.answer(
                    user_id, offer_id, Answer(answer), self._clock.now()
                )
            except NoSuchOffer:
                return notices.Refusal(Code.NOT_FOUND, f"you have no offer {offer_id!r}")
            except OfferExpired:
                return notices.Refusal(Code.WRONG_STATE, "the offer has expired")
            except AnswerGiven as error:
                return notices.Refusal(Code.WRONG_STATE, f"{error}, and the first answer is final")
        self._metrics.answers[answer].inc()
        connection = answered.connection
        if connection is None:
            return notices.OfferAnswered()
        if answered.opened:
            self._metrics.connections.inc()
            _log.info("connection_opened", connection_id=connection.connection_id)
            self._opened.append((user_id, connection))
            self._wakeup.set()
        return notices.OfferAnswered(connection.connection_id)

    async def connections(self, user_id: str) -> list[ConnectionView]:
        """Everyone with whom a user has a connection, the oldest first."""
        found = await self._offers.connections(user_id)
        now = self._clock.now()
        faces = await self._offers.faces([(user_id, one.partner) for one in found], now)
        views = []
        for one in found:
            card = faces.of(user_id, one.partner, self._places, now)
            if card is not None:
                online = self._is_online(one.partner, now)
                views.append(ConnectionView(one.connection_id, card, one.opened_at, online))
        return views

    async def partner(self, user_id: str, connection_id: str) -> str | None:
        """Who the other one of a user's connection is; None when the user has no such one."""
        # As with an answer: whoever hangs up meanwhile still has a command that awaits its reply.
        with trio.CancelScope(shield=True):
            for one in await self._offers.connections(user_id):
                if one.connection_id == connection_id:
                    faces = await self._offers.faces([(user_id, one.partner)], self._clock.now())
                    return one.partner if faces.may_see(user_id, one.partner) else None
        return None

    # The task

    async def run(self) -> None:
        """Deliver sets and notices of connections until cancelled.

        It starts with the sets of all connected users: an error may have left some undelivered.
        """
        self.wake()
        while True:
            await self._until_something_is_wanted()
            await self._tell_of_connections()
            batch = list(islice(self._wanted, USERS_AT_ONCE))
            for user_id in batch:
                del self._wanted[user_id]
            if batch:
                await self._deliver(batch)

    async def _until_something_is_wanted(self) -> None:
        while True:
            if self._wants_look and trio.current_time() >= self._next_look:
                self._wants_look = False
                self._next_look = trio.current_time() + LOOK_EVERY_S
                self._wanted.update(dict.fromkeys(self._sessions.connected()))
            if self._wanted or self._opened:
                return
            self._wakeup = trio.Event()
            with trio.move_on_at(self._next_look if self._wants_look else float("inf")):
                await self._wakeup.wait()

    async def _deliver(self, user_ids: Sequence[str]) -> None:
        now = self._clock.now()
        sets = await self._insist(lambda: self._offers.undelivered(user_ids, now))
        if not sets:
            return
        faces = await self._insist(lambda: self._offers.faces(_pairs(sets), now))
        now = self._clock.now()
        delivered = []
        for kept in sets:
            made = kept.offers
            if made.offers and made.user_id not in faces.people:
                continue  # suspended a moment ago: it is delivered when they are back
            if self._sessions.is_connected(made.user_id) and made.expires_at > now:
                self._sessions.tell(made.user_id, _view(kept, faces, self._places, now), now)
                delivered.append((made.user_id, made.day))
        self._sessions.flush()
        if delivered:
            await self._insist(lambda: self._offers.record_deliveries(delivered, now))
            self._metrics.pushed.inc(len(delivered))
            _log.info("offers_delivered", sets=len(delivered))

    async def _tell_of_connections(self) -> None:
        if not self._opened:
            return
        opened = list(self._opened)
        sides = [
            side
            for user_id, one in opened
            for side in ((user_id, one.partner), (one.partner, user_id))
        ]
        now = self._clock.now()
        faces = await self._insist(lambda: self._offers.faces(sides, now))
        for user_id, connection in opened:
            self._opened.popleft()
            for viewer, other in ((user_id, connection.partner), (connection.partner, user_id)):
                card = faces.of(viewer, other, self._places, now)
                if card is not None:
                    notice = notices.ConnectionOpened(connection.connection_id, card)
                    self._sessions.tell(viewer, notice, now)
        self._sessions.flush()

    async def _insist(self, call: Callable[[], Awaitable[T]]) -> T:
        """Do something with the store, however often that has to be tried."""
        delay_s = self._settings.retry_first_s
        while True:
            try:
                return await call()
            except StoreUnavailable as error:
                _log.warning("offers_not_delivered", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.retry_cap_s)


def _pairs(sets: Iterable[KeptSet]) -> list[tuple[str, str]]:
    """Who is to see whom."""
    return [(kept.offers.user_id, offer.candidate) for kept in sets for offer in kept.offers.offers]


def _view(kept: KeptSet, faces: Faces, places: ShownPlaces, now: Instant) -> notices.OffersMade:
    """A set as its user sees it now."""
    made, views = kept.offers, []
    for offer_id, offer, answer in zip(made.ids(), made.offers, kept.answers, strict=True):
        card = faces.of(made.user_id, offer.candidate, places, now)
        if card is not None:
            limit_km = faces.people[made.user_id].max_distance_km
            lost = min(int(card.distance_km / limit_km * ONE), ONE)
            units = shown_points(offer.facts, lost)
            views.append(
                OfferView(
                    *(offer_id, card, units, offer.reasons(card.distance_km)),
                    *(made.offered_at, made.expires_at, answer),
                )
            )
    return notices.OffersMade(made.day, tuple(views))
