"""Who may meet whom (R3, R4).

Hard constraints are named checks, each symmetric in the pair and never relaxed by anything. Gender
and seeking depend on the two profiles; blocks, history and bars are facts between two users and are
kept by `acquaintance.Acquaintance`. Soft constraints are each one's own limits of age and distance,
as wide as their own tier has made them; both sides must admit the other.
"""

from __future__ import annotations

from yoked_actor.domain.matching.tiers import Limits
from yoked_actor.domain.people import ADULT_AGE, Person, age_at
from yoked_actor.domain.time import Instant


def attracted(a: Person, b: Person) -> bool:
    """Each one's gender is among those that the other seeks."""
    return a.gender in b.seeking and b.gender in a.seeking


def both_adults(a: Person, b: Person, now: Instant) -> bool:
    """Both are of age at this instant."""
    return age_at(a, now) >= ADULT_AGE and age_at(b, now) >= ADULT_AGE


def admits_age(limits: Limits, other: Person, now: Instant) -> bool:
    """Somebody's age lies inside these limits."""
    return limits.min_age <= age_at(other, now) <= limits.max_age


def admits_distance(limits: Limits, km: float) -> bool:
    """A distance lies inside these limits."""
    return km <= limits.max_km


def admits(limits: Limits, other: Person, km: float, now: Instant) -> bool:
    """Somebody at that distance lies inside these limits."""
    return admits_distance(limits, km) and admits_age(limits, other, now)
