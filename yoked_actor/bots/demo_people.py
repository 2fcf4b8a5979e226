"""The guests of a demo: profiles that suit a visitor, and a mix of roles.

All guests are marked: ids begin with `demo-`, and names end in "(demo)".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from enum import StrEnum
from random import Random
from typing import Any

from yoked_actor.bots.people import CITIES, FIRST_NAMES, INTERESTS
from yoked_actor.domain.geometry import KM_PER_DEGREE
from yoked_actor.domain.people import ADULT_AGE, Person

PREFIX = "demo-"
_SUFFIX = "(demo)"
_OLDEST = 70
_FARTHEST_KM = 20.0


class Role(StrEnum):
    """How a guest behaves in a match."""

    YES = "yes"
    PASS = "pass"
    STAYS = "stays"
    """Votes yes, and stays on the date until its time is up."""
    FADES = "fades"
    """Votes yes, and loses the connection during the date."""
    UNDECIDED = "undecided"
    """Never votes."""
    SILENT = "silent"
    """Never acknowledges."""
    LEAVES = "leaves"
    """Leaves during the vote."""
    VANISHES = "vanishes"
    """Loses the connection during the vote, and does not reconnect."""


SAYS_YES = frozenset({Role.YES, Role.STAYS, Role.FADES})
# Mostly yes and pass; one of every other role.
_DECK = (*[Role.YES] * 5, *[Role.PASS] * 3, *(r for r in Role if r not in ("yes", "pass")))


def is_demo(user_id: str) -> bool:
    """Whether a user is a guest of the demo."""
    return user_id.startswith(PREFIX)


def roles_for(visitor_id: str) -> Iterator[Role]:
    """The roles of the guests that a visitor meets: first a yes, and every role in each deck."""
    random = Random(visitor_id)
    rest = list(_DECK[1:])
    random.shuffle(rest)
    yield _DECK[0]
    yield from rest
    while True:
        yield from random.sample(_DECK, len(_DECK))


def make_demo_person(
    random: Random, genders: Sequence[str], today: date, visitor: Person | None = None
) -> dict[str, Any]:
    """A profile in the form of the login call; one that the visitor accepts, if there is one."""
    if visitor is None:
        gender, (lat, lon, time_zone) = random.choice(genders), random.choice(CITIES)
        lat, lon = lat + random.gauss(0, 0.08), lon + random.gauss(0, 0.12)
        youngest, oldest = ADULT_AGE, _OLDEST
    else:
        gender = random.choice(sorted(visitor.seeking))
        # Towards the equator: the latitude stays valid.
        km = random.uniform(0.1, 0.9) * min(visitor.max_distance_km, _FARTHEST_KM)
        step = km / KM_PER_DEGREE
        lat, lon = visitor.lat + (-step if visitor.lat > 0 else step), visitor.lon
        time_zone = visitor.time_zone
        youngest, oldest = visitor.min_age, visitor.max_age
    age = random.randint(youngest, max(youngest, min(oldest, _OLDEST)))
    names = FIRST_NAMES.get(gender, FIRST_NAMES["nonbinary"]).split()
    initial = random.choice("ABCDEFGHIJKLMNOPRSTVWZ")
    return {
        "display_name": f"{random.choice(names)} {initial}. {_SUFFIX}",
        "birth_date": date(today.year - age, 1, 1).isoformat(),
        "gender": gender,
        "location": {"lat": lat, "lon": lon},
        "time_zone": time_zone,
        "interests": _interests(random, () if visitor is None else visitor.interests),
        "preferences": {
            "seeking": list(genders),
            "min_age": ADULT_AGE,
            "max_age": 150,
            "max_distance_km": 25_000,
        },
    }


def greeting(random: Random, interests: Sequence[str]) -> str:
    """The text that a guest sends at the start of a date, in place of a video."""
    subject = f" Let us talk about {random.choice(interests)}." if interests else ""
    return f"Hello! I am a demo person, so there is no camera here, and no sound.{subject}"


def farewell(random: Random) -> str:
    """The text that a guest sends before it ends the date."""
    return random.choice(
        (
            "I have to go now. It was nice to meet you!",
            "Time flies! Thank you for the date. Good luck with the next one.",
            "I will make room for others now. Take care!",
        )
    )


def _interests(random: Random, shared_with: Sequence[str]) -> list[str]:
    own = random.sample(INTERESTS.split(), random.randint(1, 4))
    shared = random.sample(list(shared_with), min(len(shared_with), 2))
    return sorted({*own, *shared})
