"""Why people cannot meet, in numbers, and the smallest change that would help."""

from __future__ import annotations

from typing import Literal

import msgspec


class Rejections(msgspec.Struct, frozen=True):
    """How many others each constraint rejects; everyone counts once, by the first that does."""

    seeking: int
    history: int
    age: int
    distance: int


class Relaxation(msgspec.Struct, frozen=True):
    """By how much a user would have to open one of their limits, and how many that would admit."""

    constraint: Literal["age", "distance"]
    by: int
    unit: Literal["years", "km"]
    gives: int
