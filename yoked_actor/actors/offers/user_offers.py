"""A user's daily offers: the current set, answers, connections (R44).

A card is hidden when either user has blocked the other, or when the user on it is suspended or has
no profile any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from datetime import date

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.domain.lobby import Code, ConnectionSource, Fit, OfferView, notices, replies
from yoked_actor.domain.offers import ONE, Answer, Connection, Faces, KeptSet, shown_points
from yoked_actor.domain.people import Card, ShownPlaces
from yoked_actor.domain.time import Instant
from yoked_actor.store import AnswerGiven, NoSuchOffer, OfferExpired, Store
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()


class ConnectionView(msgspec.Struct, frozen=True):
    """A connection, as one of its users sees it."""

    connection_id: str
    partner: Card
    opened_at: Instant
    online: bool
    source: ConnectionSource


class OpenedConnections:
    """Opened connections of which the users have yet to be notified."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[str, Connection]] = deque()
        """Each with the user who opened it."""
        self.wakeup = Wakeup()
        """Wakes the delivery."""
        self.claim: Callable[[str], bool] | None = None
        """With other nodes: False for a connection that was added already, by its row."""
        self.tell_nodes: Callable[[], None] | None = None
        """Tells other nodes that there is a new connection."""

    def add(self, user_id: str, connection: Connection) -> None:
        """Notify both users soon. Does not block."""
        if self.claim is None or self.claim(connection.connection_id):
            self.waiting.append((user_id, connection))
            self.wakeup.wake()
        if self.tell_nodes is not None:
            self.tell_nodes()


class UserOffers:
    """Reads a user's offers and stores answers, for the socket and for HTTP."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        metrics: Metrics,
        opened: OpenedConnections,
        *,
        is_online: Callable[[str, Instant], bool],
        places: ShownPlaces,
    ) -> None:
        """`places` says where each user is shown to be."""
        self._offers = store.offers
        self._clock = clock
        self._metrics = metrics.desk
        self._opened = opened
        self._is_online = is_online
        self._places = places

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
        faces = await self._offers.faces(pairs_of([kept]), now)
        await self._offers.record_delivery(user_id, kept.offers.day, now)
        self._metrics.fetched.inc()
        return view_of(kept, faces, self._places, now)

    async def answer(self, user_id: str, offer_id: str, answer: str) -> replies.Reply:
        """Store an answer. If it opens a connection, both users are notified after the reply.

        Checkpoints, but is shielded: a cancelled caller must not lose a connection that is stored.
        """
        with trio.CancelScope(shield=True):
            try:
                answered = await self._offers.answer(
                    user_id, offer_id, Answer(answer), self._clock.now()
                )
            except NoSuchOffer:
                return replies.Refusal(Code.NOT_FOUND, f"you have no offer {offer_id!r}")
            except OfferExpired:
                return replies.Refusal(Code.WRONG_STATE, "the offer has expired")
            except AnswerGiven as error:
                return replies.Refusal(Code.WRONG_STATE, f"{error}, and the first answer is final")
        self._metrics.answers[answer].inc()
        connection = answered.connection
        if connection is None:
            return replies.OfferAnswered()
        if answered.opened:
            self._metrics.connections.inc()
            _log.info("connection_opened", connection_id=connection.connection_id)
            self._opened.add(user_id, connection)
        return replies.OfferAnswered(connection.connection_id)

    async def connections(self, user_id: str) -> list[ConnectionView]:
        """A user's connections, the oldest first."""
        found = await self._offers.connections(user_id)
        now = self._clock.now()
        faces = await self._offers.faces([(user_id, one.partner) for one in found], now)
        views = []
        for one in found:
            card = faces.of(user_id, one.partner, self._places, now)
            if card is not None:
                online = self._is_online(one.partner, now)
                views.append(
                    ConnectionView(one.connection_id, card, one.opened_at, online, one.source)
                )
        return views

    def is_online(self, user_id: str) -> bool:
        """Whether a user is online in a room of this server."""
        return self._is_online(user_id, self._clock.now())

    async def partner(self, user_id: str, connection_id: str) -> str | None:
        """The other user of a user's connection; None when there is no such connection.

        Checkpoints, but is shielded: the command of a closed socket still gets its reply.
        """
        with trio.CancelScope(shield=True):
            for one in await self._offers.connections(user_id):
                if one.connection_id == connection_id:
                    faces = await self._offers.faces([(user_id, one.partner)], self._clock.now())
                    return one.partner if faces.may_see(user_id, one.partner) else None
        return None


def pairs_of(sets: Iterable[KeptSet]) -> list[tuple[str, str]]:
    """Pairs of a user and a user on one of their cards."""
    return [(kept.offers.user_id, offer.candidate) for kept in sets for offer in kept.offers.offers]


def view_of(kept: KeptSet, faces: Faces, places: ShownPlaces, now: Instant) -> notices.OffersMade:
    """A set as its user sees it now."""
    made, views = kept.offers, []
    for offer_id, offer, answer in zip(made.ids(), made.offers, kept.answers, strict=True):
        card = faces.of(made.user_id, offer.candidate, places, now)
        if card is not None:
            limit_km = faces.people[made.user_id].max_distance_km
            lost = min(int(card.distance_km / limit_km * ONE), ONE)
            units = shown_points(offer.facts, lost)
            fit = Fit(offer.facts.years_apart, offer.facts.shared, offer.widened)
            views.append(
                OfferView(
                    *(offer_id, card, units, offer.reasons(card.distance_km), fit),
                    *(made.offered_at, made.expires_at, answer),
                )
            )
    return notices.OffersMade(made.day, tuple(views))
