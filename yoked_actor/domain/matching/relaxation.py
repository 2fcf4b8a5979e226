"""How many users each constraint rejects, and what other limits of the user would admit."""

from __future__ import annotations

from typing import Literal

import msgspec


class Rejections(msgspec.Struct, frozen=True):
    """How many others each constraint rejects; each is counted once, by the first one."""

    seeking: int
    history: int
    age: int
    distance: int


class Relaxation(msgspec.Struct, frozen=True):
    """How far one limit of the user must widen, and how many users that would admit."""

    constraint: Literal["age", "distance"]
    by: int
    unit: Literal["years", "km"]
    gives: int


class StrictCost(msgspec.Struct, frozen=True):
    """How many users each strict limit keeps away; 0 for a limit that is not strict."""

    age: int
    distance: int
