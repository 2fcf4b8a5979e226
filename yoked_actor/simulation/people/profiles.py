"""Who the simulated people are: profiles and habits, all drawn from the seed.

Each person has random numbers of their own, so that a person behaves the same whoever else is
there. That is what makes a failing run small: people can be left out.
"""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

import msgspec

ZONES = {
    "Europe/Berlin": (52.52, 13.40),
    "America/New_York": (40.71, -74.01),
    "Asia/Kolkata": (22.57, 88.36),
    "Australia/Lord_Howe": (-31.55, 159.08),
    "America/St_Johns": (47.56, -52.71),
    "Asia/Kathmandu": (27.72, 85.32),
    "Pacific/Auckland": (-36.85, 174.76),
    "Africa/Casablanca": (33.57, -7.59),
    "Pacific/Kiritimati": (1.87, -157.36),
    "America/Santiago": (-33.45, -70.67),
}
"""Zones with their towns: whole, half and quarter hours, both hemispheres, both date lines."""

_ORIENTATIONS = (
    (0.40, "woman", ("man",)),
    (0.40, "man", ("woman",)),
    (0.04, "woman", ("woman",)),
    (0.04, "man", ("man",)),
    (0.06, "woman", ("man", "woman")),
    (0.06, "nonbinary", ("woman", "man", "nonbinary")),
)
_STRICT: tuple[tuple[str, ...], ...] = (
    *((), (), (), (), (), ()),
    *(("age",), ("distance",), ("age", "distance")),
)
_INTERESTS = ("jazz", "climbing", "chess", "films", "tea", "football", "dance", "trains", "books")


class Habits(msgspec.Struct, frozen=True):
    """How a person behaves: probabilities from 0 to 1, durations in seconds."""

    evening: float
    """Comes in the evening."""
    stays_s: float
    says_yes: float
    forgets: float
    """Does not acknowledge a match."""
    never_votes: float
    votes_late: float
    leaves: float
    """Leaves in the middle of a match."""
    spins_on: float
    """Presses spin again in the middle of a match."""
    drops: float
    """Loses the network, per event."""
    goes_silent: float
    """Sends no heartbeats for a while."""
    reloads: float
    second_device: float
    repeats: float
    """Sends a command twice."""
    blocks: float
    reports: float
    by_http: float
    """Uses the other door for a command."""
    reaction_s: float
    vanishes: float
    """Ends an evening without saying so."""
    watches_morning: float
    """Is connected when the offers come."""
    fetches_morning: float
    accepts: float
    changes: float
    """Changes the profile, per day."""
    moves: float
    exports: float
    erases: float
    calls: float
    """Calls a connection, per evening."""
    follows: float
    """Goes to the room that others talk about, per evening."""
    roams: float
    """Goes to another room, each time that nothing else happens."""
    appeals: float
    """Appeals against a suspension."""


def make_habits(random: Random) -> Habits:
    """The habits of one person."""
    return Habits(
        evening=random.uniform(0.6, 0.95),
        stays_s=random.uniform(150, 480),
        says_yes=random.betavariate(3, 3),
        forgets=random.choice((0.0, 0.05, 0.15)),
        never_votes=random.choice((0.02, 0.1, 0.3)),
        votes_late=random.choice((0.0, 0.05)),
        leaves=random.choice((0.0, 0.03, 0.08)),
        spins_on=random.choice((0.0, 0.03, 0.08)),
        drops=random.choice((0.0, 0.01, 0.04)),
        goes_silent=random.choice((0.0, 0.0, 0.02)),
        reloads=random.choice((0.0, 0.01, 0.03)),
        second_device=random.choice((0.0, 0.01, 0.03)),
        repeats=random.choice((0.0, 0.1)),
        blocks=random.choice((0.0, 0.03, 0.08)),
        reports=random.choice((0.02, 0.06, 0.15)),
        by_http=random.choice((0.0, 0.05, 0.2)),
        reaction_s=random.uniform(0.3, 3.0),
        vanishes=random.choice((0.1, 0.4)),
        watches_morning=random.uniform(0.1, 0.6),
        fetches_morning=random.uniform(0.3, 0.9),
        accepts=random.uniform(0.3, 0.8),
        changes=random.uniform(0.0, 0.15),
        moves=random.choice((0.0, 0.02, 0.08)),
        exports=random.uniform(0.0, 0.15),
        erases=random.choice((0.0, 0.0, 0.03, 0.08)),
        calls=random.uniform(0.2, 0.8),
        follows=random.choice((0.1, 0.4, 0.7)),
        roams=random.choice((0.0, 0.05, 0.15)),
        appeals=random.uniform(0.3, 0.9),
    )


def make_profile(random: Random, name: str, zone: str, today: date) -> dict[str, Any]:
    """A profile for `PUT /api/profile`."""
    [(_, gender, seeking)] = random.choices(_ORIENTATIONS, [one[0] for one in _ORIENTATIONS])
    years = round(min(70.0, max(19.0, random.gauss(32, 8))))
    return {
        "display_name": name,
        "birth_date": _born(random, today, years).isoformat(),
        "gender": gender,
        "location": near(random, zone),
        "time_zone": zone,
        "interests": sorted(random.sample(_INTERESTS, random.randint(0, 4))),
        "preferences": make_preferences(random, years, seeking),
    }


def make_preferences(random: Random, years: int, seeking: tuple[str, ...]) -> dict[str, Any]:
    """Whom a person of that age seeks."""
    return {
        "seeking": list(seeking),
        "min_age": max(18, years - random.randint(3, 15)),
        "max_age": min(100, years + random.randint(3, 15)),
        "max_distance_km": float(random.choice((10, 25, 50, 200))),
        "strict": list(random.choice(_STRICT)),
    }


def near(random: Random, zone: str) -> dict[str, float]:
    """A place near the town of a zone."""
    lat, lon = ZONES[zone]
    return {
        "lat": round(lat + random.gauss(0, 0.1), 5),
        "lon": round(lon + random.gauss(0, 0.1), 5),
    }


def _born(random: Random, today: date, years: int) -> date:
    """A birthday, often in the days of the run; some were born on a leap day."""
    if random.random() < 0.1:
        year = today.year - years
        return date(year - year % 4, 2, 29)
    near_today = today + timedelta(days=random.randint(0, 7))
    if random.random() < 0.3 and (near_today.month, near_today.day) != (2, 29):
        return near_today.replace(year=today.year - years)
    return today - timedelta(days=365 * years + years // 4 + random.randint(2, 360))
