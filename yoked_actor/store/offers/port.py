"""What the house asks of a store of offers: frozen pools, sets, answers, connections (R41-R44).

A store passes `tests/store/test_offers_store.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import date
from enum import StrEnum
from typing import Protocol

import msgspec

from yoked_actor.domain.jobs import NewJob
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


class Offers(Protocol):
    """Daily offers, as they outlive the process."""

    async def freeze_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """Freeze what a run is made from; who comes second gets what the first one froze."""
        ...

    async def preview_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """What a run would be made from if it were frozen now; nothing is kept."""
        ...

    async def progress(self, zone: str, day: date) -> RunProgress | None:
        """How far a run has come; None when it was never started."""
        ...

    async def run_days(self, zone: str | None, day: date | None) -> list[tuple[str, date]]:
        """The runs that were frozen, of one zone or date if need be; the newest first."""
        ...

    async def freeze_again(self, zone: str, day: date) -> FrozenRun:
        """Freeze a run anew, by its own rules, that has lost its pool to an erasure."""
        ...

    async def refreeze(
        self,
        zone: str,
        day: date,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None,
        then: Callable[[FrozenRun], Sequence[NewJob]],
    ) -> FrozenRun:
        """Replace what a run is made from, readable or not, by the people of this moment.

        The instants of the run stay as they are, and so do sets that are stored: their users
        receive none from the new pool. `then` gives jobs that are enqueued in the same transaction.
        `NoSuchRun` when the run was never frozen.
        """
        ...

    async def load_run(self, zone: str, day: date) -> FrozenRun | None:
        """What a run is made from, if it was frozen; `UnreadableRun` when it cannot be decoded."""
        ...

    async def load_version(self, zone: str, day: date) -> RunVersion | None:
        """Which freezing of a run counts now; None when it was never frozen."""
        ...

    async def record_outputs(self, zone: str, day: date, inputs: str, digest: str) -> None:
        """Keep the digest of all sets that were made from these inputs; the first one stands."""

    async def store_sets(
        self, zone: str, sets: Sequence[OfferSet], now: Instant, inputs: str | None = None
    ) -> list[str]:
        """Keep sets; say whose were kept. The first of a user and day stands (R41)."""
        ...

    async def load_set(self, user_id: str, day: date) -> KeptSet | None:
        """One user's set of one date."""
        ...

    async def load_sets(self, user_id: str, most: int) -> list[KeptSet]:
        """One user's sets, the newest first."""
        ...

    async def load_zone(self, zone: str, day: date) -> list[KeptSet]:
        """All sets of a zone's run, by user id, but for those that cannot be decoded."""
        ...

    async def unreadable_sets(self, zone: str, day: date) -> list[UnreadableSet]:
        """The sets of a zone's run that cannot be decoded, by user id."""
        ...

    async def record_delivery(self, user_id: str, day: date, now: Instant) -> None:
        """Note that a user was told of a set; the first time is kept, all are counted."""

    async def undelivered(self, user_ids: Sequence[str], now: Instant) -> list[KeptSet]:
        """The sets of some users that have not expired and that they were never told of."""
        ...

    async def record_deliveries(self, sets: Sequence[tuple[str, date]], now: Instant) -> None:
        """Note that users were told of sets, given as (user, day), all or none."""

    async def faces(self, pairs: Collection[tuple[str, str]], now: Instant) -> Faces:
        """What is needed to show the second of each pair to the first; nobody suspended is in."""
        ...

    async def answer(self, user_id: str, offer_id: str, answer: Answer, now: Instant) -> Answered:
        """Take an answer; the same one again changes nothing and gets the same result.

        Raises `NoSuchOffer`, `OfferExpired` or `AnswerGiven`, and changes nothing then.
        """
        ...

    async def connections(self, user_id: str) -> list[Connection]:
        """A user's connections, the oldest first."""
        ...

    async def count_doubled(self, zone: str, day: date) -> int:
        """How many offers of a run came too soon after the same one, by the run's own rules."""
        ...

    async def drop_pools(self, before: date) -> int:
        """Let go of the pools of all runs before a date; say how many."""
        ...
