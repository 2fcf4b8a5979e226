"""What the store of offers takes and returns, and how it refuses (R41-R44)."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec

from yoked_actor.domain.offers import FrozenPool, OfferRules, OfferSet
from yoked_actor.domain.people import Card, Person, ShownPlaces
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import StoreError


class Answer(StrEnum):
    """What a user says to an offer."""

    ACCEPT = "accept"
    DECLINE = "decline"


class NoSuchOffer(StoreError):
    """The user has no offer with this id."""


class OfferExpired(StoreError):
    """The offer has expired, so it is not answered any more."""


class AnswerGiven(StoreError):
    """The offer was answered otherwise, and the first answer stands."""


class NoSuchRun(StoreError):
    """The zone's run of that date was never frozen."""


class UnreadableRun(StoreError):
    """What a run was frozen as cannot be decoded any more; an operator can freeze it again."""

    def __init__(self, zone: str, day: date, reason: str) -> None:
        super().__init__(
            f"the frozen pool of {day} in {zone} cannot be read ({reason});"
            f" `yoked-actor offers refreeze {day} {zone}` replaces it"
        )


class RunVersion(msgspec.Struct, frozen=True):
    """Which freezing of a run it is: any later one differs."""

    inputs: str
    refrozen: int
    erased: int


class FrozenRun(msgspec.Struct, frozen=True):
    """What a zone's run on a date is made from, as it was frozen first."""

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
    """How many people of the pool were erased since: it was dropped then, and is not verified."""
    refrozen: int = 0
    """How often an operator has frozen it again."""

    @property
    def version(self) -> RunVersion:
        """Which freezing of the run this is."""
        return RunVersion(self.inputs, self.refrozen, self.erased)

    @property
    def is_to_be_frozen_again(self) -> bool:
        """Whether the pool was dropped for somebody who was erased: who still waits for a set of
        the run gets one that is made without them."""
        return self.erased > 0 and self.pool is None


class KeptSet(msgspec.Struct, frozen=True):
    """A set as it is stored, with its deliveries and answers."""

    offers: OfferSet
    zone: str
    digest: str
    delivered_at: Instant | None
    deliveries: int
    answers: tuple[Answer | None, ...]
    """One for each offer, in their order."""
    erased: int = 0
    """How many offers more there were, of people who were erased since."""
    inputs: str | None = None
    """The digest of what it was made from; None when it was stored by an earlier version."""


class UnreadableSet(msgspec.Struct, frozen=True):
    """A stored set that cannot be decoded, and why."""

    user_id: str
    problem: str


class Connection(msgspec.Struct, frozen=True):
    """Two users who accepted each other, as one of them sees it."""

    connection_id: str
    partner: str
    opened_at: Instant


class Answered(msgspec.Struct, frozen=True):
    """How an answer was taken."""

    candidate: str
    connection: Connection | None
    """The connection of the two, if both have accepted."""
    opened: bool
    """Whether this answer is what opened it: then both are to be told."""


class RunProgress(msgspec.Struct, frozen=True):
    """How far a zone's run has come."""

    is_done: bool
    """Whether everybody's job was enqueued."""
    users: int | None
    """For how many users it is, once the pool is frozen."""
    stored: int
    waiting: int
    """Jobs that wait or run, that of the run itself included."""
    dead: int


class Faces(msgspec.Struct, frozen=True):
    """Who of some people may see whom, and what is known of them."""

    people: dict[str, Person]
    """Those who have a profile."""
    blocked: frozenset[tuple[str, str]]
    """Which of the pairs that were asked for are kept apart by a block, of either side."""

    def of(self, viewer: str, other: str, places: ShownPlaces, now: Instant) -> Card | None:
        """What one sees of another; None when nothing may be shown."""
        person, own = self.people.get(other), self.people.get(viewer)
        if person is None or own is None or not self.may_see(viewer, other):
            return None
        return places.card(person, own, now)

    def may_see(self, viewer: str, other: str) -> bool:
        """Whether one may see another: there is a profile, not suspended, and no block between."""
        return other in self.people and (viewer, other) not in self.blocked
