"""The ages and the distance that a waiting user accepts in a tier.

Every search and every candidate reads them, so they are a class: see `waiting`.
"""

from __future__ import annotations

from math import inf
from typing import Final

from yoked_actor.domain.people import ADULT_AGE


class Limits:
    """The ages and the distance that a user accepts. They are never changed."""

    __slots__ = ("max_age", "max_km", "min_age")

    def __init__(self, min_age: int, max_age: int, max_km: float) -> None:
        self.min_age = min_age
        self.max_age = max_age
        self.max_km = max_km

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Limits)
            and self.max_km == other.max_km
            and self.min_age == other.min_age
            and self.max_age == other.max_age
        )

    def __hash__(self) -> int:
        return hash((self.min_age, self.max_age, self.max_km))

    def __repr__(self) -> str:
        return f"Limits({self.min_age}, {self.max_age}, {self.max_km})"


EVERYBODY: Final = Limits(ADULT_AGE, 10_000, inf)
