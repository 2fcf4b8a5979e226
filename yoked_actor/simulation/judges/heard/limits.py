"""Limits of gender, age and distance: strict ones hold for every match and every offer.

Ages and distances are computed here, from what people wrote in their profiles.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from math import acos, cos, radians, sin
from typing import Any

from yoked_actor.simulation.judges.heard.accounts import Account

_GLOBE_KM = 6371.0
_NEAR = 0.002
"""The shape of the globe is rounded: distances so near to a limit, as a share, may be either."""
_NEAR_KM = 0.02


def attracted(a: Account, b: Account) -> bool:
    """Whether each one's gender is among those that the other seeks."""
    assert a.profile is not None
    assert b.profile is not None
    return (
        a.profile["gender"] in b.profile["preferences"]["seeking"]
        and b.profile["gender"] in a.profile["preferences"]["seeking"]
    )


def years_on(born: str, day: date) -> int:
    """How many birthdays somebody has had; one of 29 February is on 1 March in other years."""
    birth = date.fromisoformat(born)
    return day.year - birth.year - ((day.month, day.day) < (birth.month, birth.day))


def kilometres(a: dict[str, Any], b: dict[str, Any]) -> float:
    """The distance of two profiles: the angle between them, seen from the centre of the globe."""
    lat, lon = radians(a["location"]["lat"]), radians(a["location"]["lon"])
    lat_b, lon_b = radians(b["location"]["lat"]), radians(b["location"]["lon"])
    cosine = sin(lat) * sin(lat_b) + cos(lat) * cos(lat_b) * cos(lon - lon_b)
    return _GLOBE_KM * acos(max(-1.0, min(1.0, cosine)))


def outside(mine: Account, theirs: Account, days: Collection[date]) -> str | None:
    """The strict limit of one that the other is surely outside of, on all of these days."""
    assert mine.profile is not None
    assert theirs.profile is not None
    wishes = mine.profile["preferences"]
    if "age" in wishes["strict"]:
        ages = [years_on(theirs.profile["birth_date"], day) for day in days]
        if not any(wishes["min_age"] <= age <= wishes["max_age"] for age in ages):
            limit = f"{wishes['min_age']} to {wishes['max_age']}"
            return f"{theirs.user_id} is {ages[0]}, {mine.user_id} accepts {limit} and no other"
    if "distance" in wishes["strict"]:
        km, most = kilometres(mine.profile, theirs.profile), wishes["max_distance_km"]
        if km > most * (1 + _NEAR) + _NEAR_KM:
            return f"{theirs.user_id} is {km:.1f} km from {mine.user_id}, who accepts {most:g} km"
    return None


def surely_inside(mine: Account, theirs: Account, days: Collection[date]) -> bool:
    """Whether the other is inside all strict limits of one, on each of these days."""
    assert mine.profile is not None
    assert theirs.profile is not None
    wishes = mine.profile["preferences"]
    if "age" in wishes["strict"]:
        for day in days:
            age = years_on(theirs.profile["birth_date"], day)
            if not wishes["min_age"] <= age <= wishes["max_age"]:
                return False
    if "distance" in wishes["strict"]:
        most: float = wishes["max_distance_km"] * (1 - _NEAR) - _NEAR_KM
        return kilometres(mine.profile, theirs.profile) <= most
    return True


def are_known(a: Account, b: Account, before_s: float) -> bool:
    """Whether both profiles are certain, and were so at an instant of trio's clock."""
    return (
        a.profile is not None
        and b.profile is not None
        and not (a.profile_unsure or b.profile_unsure)
        and max(a.profile_s, b.profile_s) < before_s
    )
