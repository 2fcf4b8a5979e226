"""Who goes first: the two policies of R10, in whole numbers.

A ticket's standing at an instant is `key + slope * (now - DAWN)`. The key stays the same while the
ticket waits, but for one moment that is known beforehand (`changes_at`: starvation, saturation), so
an order kept by key stays right as time passes. A part that depends on who looks (`pair_terms`) is
added, and is never more than `pair_bound`. Equal standings go by user id. Points are counted in
millionths: whole numbers compare exactly, whoever computes them.
"""

from __future__ import annotations

from math import floor
from typing import Protocol

import msgspec

from yoked_actor.domain.matching.tiers import Tier
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import MICROSECONDS, Instant

POINT = 1_000_000
DAWN = 1_577_836_800 * MICROSECONDS
"""2020: instants are counted from here, so that keys fit into 64 bits."""
MOST_CREDIT = (1 << 10) - 1
"""The most credit that a key has room for."""

_SINCE_BITS = 51
_STARVED = 1 << 62


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A waiting user who can be paired."""

    person: Person
    waiting_since: Instant
    credit: int = 0
    skips: int = 0
    tier: Tier = Tier.EXACT

    @property
    def user_id(self) -> str:
        """Whose ticket it is."""
        return self.person.user_id


class Standing(msgspec.Struct, frozen=True):
    """Where a ticket stands until `changes_at`."""

    key: int
    phase: int
    changes_at: Instant | None


class Policy(Protocol):
    """An exact and total order of tickets at any instant."""

    @property
    def name(self) -> str:
        """As the settings call it."""
        ...

    @property
    def slopes(self) -> tuple[int, int]:
        """What each microsecond adds to a standing, by phase."""
        ...

    @property
    def pair_bound(self) -> int:
        """The most that `pair_terms` can be."""
        ...

    def standing(self, ticket: Ticket, now: Instant) -> Standing:
        """Where a ticket stands at an instant."""
        ...

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """What two add to each other's standing; symmetric."""
        ...


class FairQueue:
    """The starved first, oldest first; then by credit; then by the time of the spin."""

    name = "fair_queue"
    slopes = (0, 0)
    pair_bound = 0

    def __init__(self, starvation_after_s: float) -> None:
        self._starvation = round(starvation_after_s * MICROSECONDS)

    def standing(self, ticket: Ticket, now: Instant) -> Standing:
        """Credit and then age while fresh, age alone when starved."""
        age_part = (1 << _SINCE_BITS) - (ticket.waiting_since - DAWN)
        starved_at = ticket.waiting_since + self._starvation
        if starved_at <= now:
            return Standing(_STARVED + age_part, 0, None)
        return Standing((ticket.credit << _SINCE_BITS) + age_part, 0, starved_at)

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """Nothing: everybody sees the same order."""
        return 0


class Weighted:
    """Points for the wait, for having been skipped, for narrow wishes, for credit, for the fit."""

    name = "weighted"
    slopes = (110, 10)
    pair_bound = 1_100 * POINT
    _SATURATED_AFTER = 5_000 * MICROSECONDS

    def standing(self, ticket: Ticket, now: Instant) -> Standing:
        """110 points a second until the boost of the wait is full, 10 a second from then on."""
        since = ticket.waiting_since - DAWN
        fixed = fixed_points(ticket)
        saturated_at = ticket.waiting_since + self._SATURATED_AFTER
        if saturated_at <= now:
            return Standing(fixed + 500_000 * POINT - 10 * since, 1, None)
        return Standing(fixed - 110 * since, 0, saturated_at)

    def points(self, ticket: Ticket, now: Instant) -> int:
        """The standing of a ticket, in millionths of the points of R10."""
        standing = self.standing(ticket, now)
        return standing.key + self.slopes[standing.phase] * (now - DAWN)

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """100 points for each of ten of preference match, 10 for each of ten of nearness."""
        fit = age_fit(a, b_age) + age_fit(b, a_age)
        return 500_000 * fit + 10_000 * nearness(a, b, km)


def policy_by(rules: Rules) -> Policy:
    """The policy that the rules name."""
    return Weighted() if rules.policy == "weighted" else FairQueue(rules.starvation_after_s)


def fixed_points(ticket: Ticket) -> int:
    """The points of a ticket that neither time nor the looker changes, in millionths."""
    bonus = 50_000 * min(ticket.skips, 6) + 1000 * ticket.credit
    return POINT * bonus + round(100_000 * POINT * (1.0 - breadth(ticket.person)))


def density_points(queue_size: int) -> int:
    """The points that everybody has while few wait."""
    return 10_000 * max(0, 10 - queue_size)


def breadth(person: Person) -> float:
    """How broad somebody's wishes are, from 0 to 1."""
    years = (person.max_age - person.min_age) / 50
    return min(max((years + person.max_distance_km / 200) / 2, 0.0), 1.0)


def age_fit(person: Person, age: int) -> int:
    """How near an age is to the middle of somebody's wishes, from 0 (outside) to 1000."""
    off = abs(2 * age - person.min_age - person.max_age)
    return 1000 - min(1000, 1000 * off // (person.max_age - person.min_age + 2))


def nearness(a: Person, b: Person, km: float) -> int:
    """How near two are, for what they wish, from 0 to 10,000."""
    limit = min(a.max_distance_km, b.max_distance_km)
    return floor(10_000 * (1.0 - min(1.0, km / limit)))
