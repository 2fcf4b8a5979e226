"""A place in line as a value: its tier, the limits that the tier gives, and its standing."""

from __future__ import annotations

from collections.abc import Collection
from enum import IntEnum
from math import inf
from typing import Protocol

import msgspec

from yoked_actor.domain.people import ADULT_AGE, Person, StrictLimit
from yoked_actor.domain.time import Instant


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


class Limits(msgspec.Struct, frozen=True):
    """The ages and the distance that a user accepts."""

    min_age: int
    max_age: int
    max_km: float


EVERYBODY = Limits(ADULT_AGE, 10_000, inf)


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A waiting user who can be paired."""

    person: Person
    waiting_since: Instant
    credit: int = 0
    skips: int = 0
    tier: Tier = Tier.EXACT

    @property
    def user_id(self) -> str:
        """The user of the ticket."""
        return self.person.user_id


class Standing(msgspec.Struct, frozen=True):
    """The standing of a ticket until `changes_at`."""

    key: int
    phase: int
    changes_at: Instant | None
