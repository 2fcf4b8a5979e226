"""Who may meet whom (R3).

Hard constraints are named checks, each symmetric in the pair and never relaxed by anything. Gender
and seeking depend on the two profiles; blocks, history and bars are facts between two users and are
kept by `acquaintance.Acquaintance`.
"""

from __future__ import annotations

from yoked_actor.domain.instants import Instant
from yoked_actor.domain.people import ADULT_AGE, Person, age_at


def attracted(a: Person, b: Person) -> bool:
    """Each one's gender is among those that the other seeks."""
    return a.gender in b.seeking and b.gender in a.seeking


def both_adults(a: Person, b: Person, now: Instant) -> bool:
    """Both are of age at this instant."""
    return age_at(a, now) >= ADULT_AGE and age_at(b, now) >= ADULT_AGE
