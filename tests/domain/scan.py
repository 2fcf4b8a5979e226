"""The best partner as R4, R8 and R10 have it written: look at everybody, compute, compare.

Slow and plain on purpose, with fractions in place of floats, and without any code of the index: the
index is held against this. Only what the rulings leave open (how fit and nearness are rounded) is
repeated here from the words of `fairness`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import cache
from math import floor, inf

from yoked_actor.domain.matching import Ticket
from yoked_actor.domain.people import Person, distance_km
from yoked_actor.domain.time import Instant

STARVATION_S = 60
Bounds = tuple[float, float, float]
"""The lowest age, the highest age, the distance."""


@cache
def _day(now: Instant) -> date:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=now)).date()


def age(who: Person, now: Instant) -> int:
    """The age; a birthday of 29 February is 1 March."""
    today = _day(now)
    years = today.year - who.birth_date.year
    day = (who.birth_date.month, who.birth_date.day)
    return years if (today.month, today.day) >= day else years - 1


def bounds(who: Person, tier: int) -> Bounds:
    """The limits of a person in a tier (R8), with the default numbers; a strict one stays."""
    years, factor = {1: (0, 1.0), 2: (2, 1.2), 3: (5, 1.5), 99: (inf, inf)}[tier]
    far = who.max_distance_km if "distance" in who.strict else who.max_distance_km * factor
    if "age" in who.strict:
        return (who.min_age, who.max_age, far)
    oldest = inf if tier == 99 else max(who.max_age, min(100, who.max_age + years))
    return (max(18, who.min_age - years), oldest, far)


def within_strict_limits(one: Person, other: Person, now: Instant) -> bool:
    """Whether neither of two lies outside a strict limit of the other."""
    km = distance_km(one, other)
    return all(
        ("age" not in mine.strict or mine.min_age <= age(theirs, now) <= mine.max_age)
        and ("distance" not in mine.strict or km <= mine.max_distance_km)
        for mine, theirs in ((one, other), (other, one))
    )


def lies_inside(limits: Bounds, who: Person, km: float, now: Instant) -> bool:
    """Whether a person at that distance is accepted."""
    least, most, far = limits
    return km <= far and least <= age(who, now) <= most


def acceptable(
    seeker: Person, limits: Bounds, other: Ticket, now: Instant, beyond: Bounds | None = None
) -> bool:
    """R3 and R4 as far as profiles go: both ways, each by their own limits."""
    theirs = other.person
    if theirs.gender not in seeker.seeking or seeker.gender not in theirs.seeking:
        return False
    km = distance_km(seeker, theirs)
    return (
        lies_inside(limits, theirs, km, now)
        and lies_inside(bounds(theirs, other.tier), seeker, km, now)
        and not (beyond is not None and lies_inside(beyond, theirs, km, now))
    )


def priority(ticket: Ticket, now: Instant) -> Fraction:
    """The points of R10 without the pair terms and the density, which is the same for all."""
    who = ticket.person
    wait_s = Fraction(now - ticket.waiting_since, 1_000_000)
    years, km = Fraction(who.max_age - who.min_age), Fraction(who.max_distance_km)
    breadth = min(max((years / 50 + km / 200) / 2, Fraction(0)), Fraction(1))
    boost = min(wait_s / 10, Fraction(500)) + min(50 * ticket.skips, 300) + ticket.credit
    return 1000 * boost + Fraction(round(100_000 * (1 - breadth) * 10**6), 10**6) + 10 * wait_s


def pair_points(a: Person, b: Person, now: Instant) -> Fraction:
    """100 * preference_match + 10 * distance_score."""
    preference_match = (_fit(a, age(b, now)) + _fit(b, age(a, now))) / 2
    limit = min(a.max_distance_km, b.max_distance_km)
    share = 1.0 - min(1.0, distance_km(a, b) / limit)
    return 100 * preference_match + 10 * Fraction(floor(10_000 * share), 1000)


def _fit(who: Person, years: int) -> Fraction:
    """10 in the middle of a person's range, 0 outside; in hundredths."""
    middle, half = Fraction(who.min_age + who.max_age, 2), Fraction(who.max_age - who.min_age, 2)
    off = min(Fraction(1), abs(years - middle) / (half + 1))
    return 10 - Fraction(floor(1000 * off), 100)


def fair_queue_order(ticket: Ticket, now: Instant) -> tuple[bool, int, int, str]:
    """Starved tickets first, by wait; then by credit, wait, id."""
    starved = now - ticket.waiting_since >= STARVATION_S * 1_000_000
    return (not starved, 0 if starved else -ticket.credit, ticket.waiting_since, ticket.user_id)


def scan(
    policy: str,
    tickets: Iterable[Ticket],
    seeker: Person,
    limits: Bounds,
    now: Instant,
    allowed: Callable[[str], bool],
    beyond: Bounds | None = None,
) -> tuple[Ticket | None, list[str]]:
    """The best of all acceptable tickets, and the users who were passed over."""
    found = [
        each
        for each in tickets
        if allowed(each.user_id) and acceptable(seeker, limits, each, now, beyond)
    ]
    if not found:
        return None, []
    if policy == "fair_queue":
        return min(found, key=lambda each: fair_queue_order(each, now)), []
    bases = {each.user_id: priority(each, now) for each in found}
    best = min(
        found,
        key=lambda each: (
            -bases[each.user_id] - pair_points(seeker, each.person, now),
            each.user_id,
        ),
    )
    passed = [user_id for user_id, base in bases.items() if base > bases[best.user_id]]
    return best, sorted(passed)
