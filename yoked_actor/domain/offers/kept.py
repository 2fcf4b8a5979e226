"""Daily offers as they are stored: frozen runs, sets, answers, connections (R41-R44)."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.lobby import ConnectionSource
from yoked_actor.domain.offers.frozen_pool import FrozenPool, OfferRules
from yoked_actor.domain.offers.offer_sets import OfferSet
from yoked_actor.domain.people import Card, Person, ShownPlaces
from yoked_actor.domain.time import Instant


class Answer(StrEnum):
    """A user's answer to an offer."""

    ACCEPT = "accept"
    DECLINE = "decline"


class RunVersion(msgspec.Struct, frozen=True):
    """Identifies one freezing of a run: every later one differs."""

    inputs: str
    refrozen: int
    erased: int


class FrozenRun(msgspec.Struct, frozen=True):
    """What a zone's run on a date is made from."""

    day: date
    zone: str
    rules: OfferRules
    inputs: str
    """The digest of pool and rules."""
    outputs: str | None
    """The digest of the sets, once they were made."""
    pool: FrozenPool | None
    """None when it was dropped since."""
    erased: int = 0
    """How many people of the pool were erased since. Then it was dropped, and is not verified."""
    refrozen: int = 0
    """How often an operator has frozen it again."""

    @property
    def version(self) -> RunVersion:
        """Which freezing of the run this is."""
        return RunVersion(self.inputs, self.refrozen, self.erased)

    @property
    def is_to_be_frozen_again(self) -> bool:
        """Whether an erasure dropped the pool: users without a set yet get one from a new pool."""
        return self.erased > 0 and self.pool is None


class RunProgress(msgspec.Struct, frozen=True):
    """The progress of a zone's run."""

    is_done: bool
    """Whether the jobs of all users were enqueued."""
    users: int | None
    """For how many users it is, once the pool is frozen."""
    stored: int
    waiting: int
    """Jobs that wait or run, the job of the run itself included."""
    dead: int


class KeptSet(msgspec.Struct, frozen=True):
    """A stored set, with its deliveries and answers."""

    offers: OfferSet
    zone: str
    digest: str
    delivered_at: Instant | None
    deliveries: int
    answers: tuple[Answer | None, ...]
    """One for each offer, in their order."""
    erased: int = 0
    """How many more offers there were, of people who were erased since."""
    inputs: str | None = None
    """The digest of what it was made from; None when it was stored by an earlier version."""


class UnreadableSet(msgspec.Struct, frozen=True):
    """A stored set that cannot be decoded, and why."""

    user_id: str
    problem: str


class Connection(msgspec.Struct, frozen=True):
    """Two users who accepted each other, or stay in touch, as one of them sees it."""

    connection_id: str
    partner: str
    opened_at: Instant
    source: ConnectionSource = ConnectionSource.OFFERS


class Answered(msgspec.Struct, frozen=True):
    """The result of an answer."""

    candidate: str
    connection: Connection | None
    """The connection of the two, if both have accepted."""
    opened: bool
    """Whether this answer opened it: then both are notified."""


class Faces(msgspec.Struct, frozen=True):
    """What some users may see of each other."""

    people: dict[str, Person]
    """The users who have a profile and are not suspended."""
    blocked: frozenset[tuple[str, str]]
    """The pairs that a block of either side keeps apart."""

    def of(self, viewer: str, other: str, places: ShownPlaces, now: Instant) -> Card | None:
        """What the viewer sees of the other user; None when nothing may be shown."""
        person, own = self.people.get(other), self.people.get(viewer)
        if person is None or own is None or not self.may_see(viewer, other):
            return None
        return places.card(person, own, now)

    def may_see(self, viewer: str, other: str) -> bool:
        """Whether the other user has a profile, is not suspended, and no block is between them."""
        return other in self.people and (viewer, other) not in self.blocked
