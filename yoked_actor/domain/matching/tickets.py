"""The tiers of a place in line, and how each widens the wishes of a user."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from typing import Protocol

import msgspec

from yoked_actor.domain.people import StrictLimit


class Tier(IntEnum):
    """How wide a user's limits are; the numbers are those of the wire."""

    EXACT = 1
    WIDER = 2
    WIDEST = 3
    FORCED = 99


class Widening(msgspec.Struct, frozen=True):
    """How a tier widens the limits, and from which wait on."""

    tier: Tier
    after_s: float
    years: int
    distance_factor: float


class Wishes(Protocol):
    """A value with preferences of age and distance."""

    @property
    def min_age(self) -> int: ...
    @property
    def max_age(self) -> int: ...
    @property
    def max_distance_km(self) -> float: ...
    @property
    def strict(self) -> Collection[StrictLimit]: ...
