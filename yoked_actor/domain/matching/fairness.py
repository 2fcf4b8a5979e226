"""The order of tickets: the two policies of R10, in integers.

A ticket's standing at an instant is `key + slope * (now - EPOCH)`. The key changes once while the
ticket waits, at an instant that is known in advance (`changes_at`: starvation, saturation), so an
order by key stays correct as time passes. A term that depends on the seeker (`pair_terms`) is
added; it is never more than `pair_bound`. Equal standings are ordered by user id. Points are in
millionths, as integers, which compare exactly on every machine.
"""

from __future__ import annotations

from math import floor
from typing import Final, Protocol

from yoked_actor.domain.matching.waiting import Standing, Ticket
from yoked_actor.domain.people import Person
from yoked_actor.domain.rules import Rules
from yoked_actor.domain.time import MICROSECONDS, Instant

POINT: Final = 1_000_000
EPOCH: Final = 1_577_836_800 * MICROSECONDS
"""1 January 2020: instants are counted from here, so that keys fit into 64 bits."""
MOST_CREDIT: Final = (1 << 10) - 1
"""The most credit that fits into a key."""

_SINCE_BITS: Final = 51
_STARVED: Final = 1 << 62


class Policy(Protocol):
    """An exact and total order of tickets at any instant."""

    @property
    def name(self) -> str:
        """The name in the settings."""
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
        """The standing of a ticket at an instant."""
        ...

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """What two users add to each other's standing; symmetric."""
        ...


class FairQueue:
    """Starved tickets first, by wait; then all others by credit, then by wait."""

    name = "fair_queue"
    slopes = (0, 0)
    pair_bound = 0

    def __init__(self, starvation_after_s: float) -> None:
        self._starvation = round(starvation_after_s * MICROSECONDS)

    def standing(self, ticket: Ticket, now: Instant) -> Standing:
        """By credit, then by wait; by wait alone if starved."""
        age_part = (1 << _SINCE_BITS) - (ticket.waiting_since - EPOCH)
        starved_at = ticket.waiting_since + self._starvation
        if starved_at <= now:
            return Standing(_STARVED + age_part, 0, None)
        return Standing((ticket.credit << _SINCE_BITS) + age_part, 0, starved_at)

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """Nothing: the order is the same for every seeker."""
        return 0


class Weighted:
    """Points for the wait, for skips, for narrow preferences, for credit and for the fit."""

    name = "weighted"
    slopes = (110, 10)
    pair_bound = 1_100 * POINT
    _SATURATED_AFTER = 5_000 * MICROSECONDS

    def standing(self, ticket: Ticket, now: Instant) -> Standing:
        """110 points per second until the wait is saturated, then 10 per second."""
        since = ticket.waiting_since - EPOCH
        fixed = fixed_points(ticket)
        saturated_at = ticket.waiting_since + self._SATURATED_AFTER
        if saturated_at <= now:
            return Standing(fixed + 500_000 * POINT - 10 * since, 1, None)
        return Standing(fixed - 110 * since, 0, saturated_at)

    def points(self, ticket: Ticket, now: Instant) -> int:
        """The standing of a ticket, in millionths of the points of R10."""
        standing = self.standing(ticket, now)
        return standing.key + self.slopes[standing.phase] * (now - EPOCH)

    def pair_terms(self, a: Person, a_age: int, b: Person, b_age: int, km: float) -> int:
        """Up to 1000 points for the fit of ages, and up to 100 for nearness."""
        return terms_of(age_fit(a, b_age) + age_fit(b, a_age), nearness(a, b, km))


def terms_of(fit: int, near: int) -> int:
    """The points of a pair, in millionths, by the fits of both ages and by nearness."""
    return 500_000 * fit + 10_000 * near


def policy_by(rules: Rules) -> Policy:
    """The policy that the rules name."""
    return Weighted() if rules.policy == "weighted" else FairQueue(rules.starvation_after_s)


def fixed_points(ticket: Ticket) -> int:
    """The points of a ticket that do not depend on time or on the seeker, in millionths."""
    bonus = 50_000 * min(ticket.skips, 6) + 1000 * ticket.credit
    return POINT * bonus + round(100_000 * POINT * (1.0 - breadth(ticket.person)))


def density_points(queue_size: int) -> int:
    """The points that every ticket has while few users wait."""
    return 10_000 * max(0, 10 - queue_size)


def breadth(person: Person) -> float:
    """How broad a user's preferences are, from 0 to 1."""
    years = (person.max_age - person.min_age) / 50
    return min(max((years + person.max_distance_km / 200) / 2, 0.0), 1.0)


def age_fit(person: Person, age: int) -> int:
    """How near an age is to the middle of a user's range, from 0 (outside) to 1000."""
    off = abs(2 * age - person.min_age - person.max_age)
    return 1000 - min(1000, 1000 * off // (person.max_age - person.min_age + 2))


def nearness(a: Person, b: Person, km: float) -> int:
    """How near two users are, relative to their preferences, from 0 to 10,000."""
    limit = min(a.max_distance_km, b.max_distance_km)
    return floor(10_000 * (1.0 - min(1.0, km / limit)))
