"""The age of a person, and the distance of two (R2, R4)."""

from __future__ import annotations

from calendar import isleap
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from yoked_actor.domain.geometry import angles_of, haversine_km
from yoked_actor.domain.time import Instant, utc_date

if TYPE_CHECKING:
    from yoked_actor.domain.people.person import Person

ADULT_AGE: Final = 18
OLDEST_AGE: Final = 100


def age_on(birth_date: date, today: date) -> int:
    """The age in whole years. A birthday of 29 February is 1 March in other years."""
    had_birthday = (today.month, today.day) >= (birth_date.month, birth_date.day)
    return today.year - birth_date.year - (not had_birthday)


def age_at(person: Person, now: Instant) -> int:
    """The age of a person at an instant."""
    return age_on(person.birth_date, utc_date(now))


@lru_cache(maxsize=4)
def latest_adult(today: date) -> date:
    """The latest birth date of an adult: a birthday of 29 February is 1 March in other years."""
    year = today.year - ADULT_AGE
    if (today.month, today.day) == (2, 29) and not isleap(year):
        return date(year, 2, 28)
    return today.replace(year=year)


def distance_km(a: Person, b: Person) -> float:
    """The great-circle distance of two people."""
    lat_a, cos_a, lon_a = angles_of(a.lat, a.lon)
    lat_b, cos_b, lon_b = angles_of(b.lat, b.lon)
    return haversine_km(lat_a, cos_a, lon_a, lat_b, cos_b, lon_b)


def born_number(day: date) -> int:
    """A day as the number yyyymmdd: a person is n or older if born by today - n * 10000."""
    return 10_000 * day.year + 100 * day.month + day.day
