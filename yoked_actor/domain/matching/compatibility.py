"""Which two users may be paired (R3, R4).

Hard constraints are symmetric and never relaxed. Gender, seeking and adulthood depend on the two
profiles; blocks, meetings and bars are kept by `acquaintance.Acquaintance`. Soft constraints are
each user's own limits of age and distance, as wide as their own tier; both must admit the other. A
strict limit is hard, too: `Tiers.limits` does not widen it.
"""

from __future__ import annotations

from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.people import Person, age_at, distance_km, latest_adult
from yoked_actor.domain.time import Instant, utc_date


def attracted(a: Person, b: Person) -> bool:
    """Whether each one's gender is among those that the other seeks."""
    return a.gender in b.seeking and b.gender in a.seeking


def both_adults(a: Person, b: Person, now: Instant) -> bool:
    """Whether both are adults at this instant."""
    latest = latest_adult(utc_date(now))
    return a.birth_date <= latest and b.birth_date <= latest


def admits_age(limits: Limits, other: Person, now: Instant) -> bool:
    """Whether a person's age is inside these limits."""
    return limits.min_age <= age_at(other, now) <= limits.max_age


def admits_distance(limits: Limits, km: float) -> bool:
    """Whether a distance is inside these limits."""
    return km <= limits.max_km


def admits(limits: Limits, other: Person, km: float, now: Instant) -> bool:
    """Whether a person at this distance is inside these limits."""
    return admits_distance(limits, km) and admits_age(limits, other, now)


def admits_strictly(person: Person, other: Person, now: Instant) -> bool:
    """Whether another person is inside a person's strict limits."""
    if "age" in person.strict and not person.min_age <= age_at(other, now) <= person.max_age:
        return False
    return "distance" not in person.strict or distance_km(person, other) <= person.max_distance_km
