"""Profiles and preferences (R1, R2), and the card that a partner sees."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date
from functools import lru_cache
from typing import Literal

import msgspec

from yoked_actor.domain.people.measures import ADULT_AGE, age_on
from yoked_actor.domain.time import Instant, utc_date

USER_ID = r"^[A-Za-z0-9_.:@-]{1,64}$"
"""The pattern of user ids, valid in JSON Schema, too."""
_USER_ID = re.compile(USER_ID)

StrictLimit = Literal["age", "distance"]
"""A limit that a user can make strict: it is never widened."""
_STRICT_LIMITS: tuple[frozenset[StrictLimit], ...] = (
    frozenset(),
    frozenset({"age"}),
    frozenset({"distance"}),
    frozenset({"age", "distance"}),
)
_STRICT: dict[frozenset[str], frozenset[StrictLimit]] = {
    frozenset[str](limits): limits for limits in _STRICT_LIMITS
}


class ShownPlace(msgspec.Struct, frozen=True, gc=False):
    """The shown place of a person, and since when. See `shown_places`."""

    lat: float
    lon: float
    changed_at: Instant


class Person(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A complete profile with preferences."""

    user_id: str
    display_name: str
    birth_date: date
    gender: str
    lat: float
    lon: float
    time_zone: str
    interests: tuple[str, ...]
    seeking: frozenset[str]
    min_age: int
    max_age: int
    max_distance_km: float
    strict: frozenset[StrictLimit] = _STRICT_LIMITS[0]
    shown: ShownPlace | None = None
    """None in a profile from a client: it is computed when the profile is stored."""


class Card(msgspec.Struct, frozen=True, gc=False):
    """What a partner sees: no position, no birth date."""

    user_id: str
    display_name: str
    age: int
    gender: str
    interests: tuple[str, ...]
    distance_km: int
    """The upper edge of a band; measured between shown places, never exact ones."""


class ProfileProblem(Exception):
    """A profile that is refused, with the code of the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def strict_limits(names: Iterable[str]) -> frozenset[StrictLimit]:
    """A set of strict limits. Equal sets are the same object: most users have none."""
    found = _STRICT.get(frozenset(names))
    if found is None:
        raise ValueError("strict limits are age and distance")
    return found


@lru_cache(maxsize=256)
def shared_genders(genders: frozenset[str]) -> frozenset[str]:
    """An equal set, the same object for all users: a set takes 216 bytes."""
    return genders


def is_user_id(text: str) -> bool:
    """Whether `text` can be the id of a user."""
    return _USER_ID.fullmatch(text) is not None


def check_person(person: Person, now: Instant, genders: frozenset[str]) -> None:
    """Raise `ProfileProblem` unless the profile is valid."""
    today = utc_date(now)
    if person.birth_date > today:
        raise ProfileProblem("bad_request", "birth_date lies in the future")
    age = age_on(person.birth_date, today)
    if age > 130:
        raise ProfileProblem("bad_request", "birth_date lies too far in the past")
    if age < ADULT_AGE:
        raise ProfileProblem("underage", f"you must be {ADULT_AGE} or older")
    known = ", ".join(sorted(genders))
    if person.gender not in genders:
        raise ProfileProblem("bad_request", f"gender must be one of {known}")
    if not person.seeking or not person.seeking <= genders:
        raise ProfileProblem("bad_request", f"preferences.seeking must name some of {known}")
    if not ADULT_AGE <= person.min_age <= person.max_age:
        raise ProfileProblem("bad_request", f"preferences need {ADULT_AGE} <= min_age <= max_age")
