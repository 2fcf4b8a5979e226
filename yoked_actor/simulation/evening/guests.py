"""The guests of a simulated evening: profiles, times and behaviour, all derived from the seed."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

import msgspec

from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant, after, utc_date

CENTRE = (52.52, 13.40)
"""All guests live around one town."""

_ORIENTATIONS = (
    (0.46, "woman", ("man",)),
    (0.46, "man", ("woman",)),
    (0.02, "woman", ("woman",)),
    (0.02, "man", ("man",)),
    (0.02, "woman", ("man", "woman")),
    (0.02, "nonbinary", ("woman", "man", "nonbinary")),
)


class Behaviour(msgspec.Struct, frozen=True):
    """The behaviour of a guest: probabilities from 0 to 1, delays in seconds."""

    says_yes: float
    ignores_match: float
    ignores_vote: float
    loses_socket: float
    takes_break: float
    answer_s: float
    date_s: float


class Guest(msgspec.Struct, frozen=True):
    """A guest, with the instants of coming and leaving."""

    person: Person
    behaviour: Behaviour
    comes_at: Instant
    goes_at: Instant


def make_guests(count: int, seed: int, start_at: Instant, length_s: float) -> list[Guest]:
    """The guests of an evening."""
    random = Random(f"guests {seed}")
    return [_make_guest(random, number, start_at, length_s) for number in range(count)]


def _make_guest(random: Random, number: int, start_at: Instant, length_s: float) -> Guest:
    comes_s = random.triangular(0, 0.8 * length_s, 0.25 * length_s)
    stays_s = random.uniform(0.1, 0.35) * length_s
    behaviour = Behaviour(
        says_yes=random.betavariate(2, 3),
        ignores_match=random.choice((0.0, 0.0, 0.02, 0.1)),
        ignores_vote=random.choice((0.0, 0.0, 0.05, 0.2)),
        loses_socket=random.choice((0.0, 0.0, 0.0, 0.05)),
        takes_break=random.uniform(0.05, 0.25),
        answer_s=random.uniform(1.0, 9.0),
        date_s=random.uniform(20, 300),
    )
    return Guest(
        _make_person(random, number, utc_date(start_at)),
        behaviour,
        after(start_at, comes_s),
        after(start_at, min(length_s, comes_s + stays_s)),
    )


def _make_person(random: Random, number: int, today: date) -> Person:
    [(_, gender, seeking)] = random.choices(_ORIENTATIONS, [share for share, _, _ in _ORIENTATIONS])
    age = round(min(75.0, max(18.0, random.gauss(33, 9))))
    younger, older = random.randint(4, 12), random.randint(4, 12)
    if gender == "woman":
        older += 2
    return Person(
        user_id=f"guest{number}",
        display_name=f"Guest {number}",
        birth_date=today - timedelta(days=365 * age + age // 4 + random.randint(1, 360)),
        gender=gender,
        lat=CENTRE[0] + random.gauss(0, 0.12),
        lon=CENTRE[1] + random.gauss(0, 0.2),
        time_zone="Europe/Berlin",
        interests=(),
        seeking=frozenset(seeking),
        min_age=max(18, age - younger),
        max_age=max(20, age + older),
        max_distance_km=float(random.choice((20, 30, 50, 100))),
    )
