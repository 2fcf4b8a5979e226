"""People for tests: builders with sensible defaults, and the strategies of the domain."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from yoked_actor.domain.matching import MOST_CREDIT, Ticket, Tier
from yoked_actor.domain.offers import OfferSet, joint_digest
from yoked_actor.domain.people import Person, strict_limits
from yoked_actor.domain.time import Instant, after, from_datetime

START: Instant = from_datetime(datetime(2026, 1, 1, 8, 0, tzinfo=UTC))
"""Where the clock of a test begins."""

GENDERS = ("woman", "man", "nonbinary")
EVERYONE = frozenset(GENDERS)


def outputs_digest(run: Mapping[str, OfferSet]) -> str:
    """The digest of all sets of a run, as the server records it."""
    return joint_digest(run[user_id].digest() for user_id in sorted(run))


def person(
    user_id: str, gender: str = "woman", seeking: str | frozenset[str] = EVERYONE, **other: Any
) -> Person:
    """A person in Berlin, born in 1995, who seeks everyone by default."""
    fields: dict[str, Any] = {
        "display_name": user_id.title(),
        "birth_date": date(1995, 6, 15),
        "lat": 52.52,
        "lon": 13.40,
        "time_zone": "Europe/Berlin",
        "interests": ("jazz",),
        "min_age": 18,
        "max_age": 99,
        "max_distance_km": 50.0,
    }
    sought = frozenset({seeking}) if isinstance(seeking, str) else seeking
    return Person(user_id=user_id, gender=gender, seeking=sought, **{**fields, **other})


def woman(user_id: str, **other: Any) -> Person:
    """A woman who seeks men."""
    return person(user_id, "woman", "man", **other)


def man(user_id: str, **other: Any) -> Person:
    """A man who seeks women."""
    return person(user_id, "man", "woman", **other)


def ticket(
    who: Person, waited_s: float = 0.0, credit: int = 0, skips: int = 0, tier: Tier = Tier.EXACT
) -> Ticket:
    """A ticket that has waited so long at START."""
    return Ticket(who, after(START, -waited_s), credit, skips, tier)


genders = st.sampled_from(GENDERS)

seekings = st.frozensets(genders, min_size=1)

credits = st.sampled_from((0, 0, 10, 20, 50, MOST_CREDIT))

skips = st.integers(min_value=0, max_value=8)

tiers = st.sampled_from(tuple(Tier))

waits_s = st.one_of(
    st.floats(min_value=0, max_value=200, allow_nan=False),
    # Around the starvation edge and around saturation, where the order turns over.
    st.sampled_from((0.0, 1.0, 59.0, 59.999999, 60.0, 60.000001, 61.0)),
    st.sampled_from((4_990.0, 4_999.999999, 5_000.0, 5_000.000001, 5_010.0, 90_000.0)),
)

_ANCHORS = (
    (52.52, 13.40),
    (52.52, 13.40),
    (-52.52, -166.60),  # The antipode.
    (48.5, 2.5),  # A corner of cells.
    (0.0, 180.0),
    (0.0, -180.0),
    (-17.8, 179.999),
    (-17.8, -179.999),
    (90.0, 0.0),
    (90.0, 77.0),
    (89.95, -120.0),
    (-90.0, 10.0),
)
_STEPS = (0.0, 0.0, 1e-9, 1e-5, 0.001, 0.2, 0.5, 3.0)


@st.composite
def _positions(draw: st.DrawFn) -> tuple[float, float]:
    """Any position on the globe, mostly near poles, meridians and other edge cases."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.floats(-90, 90)), draw(st.floats(-180, 180))
    lat, lon = draw(st.sampled_from(_ANCHORS))
    north, east = (draw(st.sampled_from(_STEPS)) * draw(st.sampled_from((-1, 1))) for _ in "12")
    return max(-90.0, min(90.0, lat + north)), max(-180.0, min(180.0, lon + east))


positions = _positions()

distances_km = st.one_of(
    st.sampled_from((1e-9, 0.01, 0.5, 20.0, 50.0, 200.0, 1_000.0, 10_000.0, 20_015.0, 25_000.0)),
    st.floats(min_value=1e-6, max_value=25_000),
)

adults_birth_dates = st.one_of(
    st.dates(min_value=date(1930, 1, 1), max_value=date(2007, 12, 31)),
    # Birthdays around START, and around 1 March.
    st.builds(
        lambda year, day: date(year, *day),
        st.sampled_from((1984, 1996, 2000, 2004)),
        st.sampled_from(((1, 1), (1, 2), (12, 31), (2, 28), (2, 29), (3, 1))),
    ),
)

stricts = st.sampled_from(
    [*[strict_limits(())] * 3, *map(strict_limits, (["age"], ["distance"], ["age", "distance"]))]
)

age_limits = st.one_of(
    st.sampled_from(((18, 99), (18, 18), (20, 30), (25, 25), (28, 32), (18, 150), (60, 100))),
    st.tuples(st.integers(18, 70), st.integers(0, 40)).map(lambda two: (two[0], sum(two))),
)


def crowd_ids(size: int) -> tuple[str, ...]:
    """The user ids of a crowd."""
    return tuple(f"u{number}" for number in range(size))


@st.composite
def people(draw: st.DrawFn, user_id: str) -> Person:
    """A profile of that user: any gender, preferences, age and position."""
    if draw(st.booleans()):
        lat, lon = draw(st.sampled_from(((52.52, 13.40), (52.6, 13.5), (48.5, 2.5), (90.0, 0.0))))
        born = draw(adults_birth_dates)
        return person(
            user_id, draw(genders), birth_date=born, lat=lat, lon=lon, max_distance_km=1e4
        )
    lat, lon = draw(positions)
    min_age, max_age = draw(age_limits)
    return person(
        user_id,
        draw(genders),
        draw(seekings),
        birth_date=draw(adults_birth_dates),
        lat=lat,
        lon=lon,
        min_age=min_age,
        max_age=max_age,
        max_distance_km=draw(distances_km),
        strict=draw(stricts),
    )


@st.composite
def guests(draw: st.DrawFn, user_id: str) -> Person:
    """A profile of that user whose wishes decide: within reach of others, or one or two tiers off.

    Kilometres between the places: 25, 60, 117; and one is on the other side of the world.
    """
    min_age, max_age = draw(st.sampled_from(((18, 99), (18, 99), (28, 32), (20, 23), (33, 40))))
    return person(
        user_id,
        draw(genders),
        draw(st.one_of(st.just(EVERYONE), seekings)),
        # 22, 26, 29 or 30, 31, 34, 38; 32 turned 33 after the first midnight.
        birth_date=draw(
            st.sampled_from(
                [date(year, 6, 15) for year in (1987, 1991, 1994, 1999, 2003)]
                + [date(1993, 1, 2), date(1996, 1, 1), date(1996, 1, 2)]
            )
        ),
        lat=draw(st.sampled_from((52.52, 52.52, 52.745, 53.06, 53.573, -33.9))),
        min_age=min_age,
        max_age=max_age,
        max_distance_km=draw(st.sampled_from((20.0, 50.0, 55.0, 100.0, 25_000.0))),
        strict=draw(stricts),
    )


@st.composite
def rivals(draw: st.DrawFn, user_id: str) -> Person:
    """A woman whose own points are those of all others: only the fit of the pair differs."""
    min_age = draw(st.sampled_from((20, 22, 26, 29)))
    return woman(
        user_id,
        lat=draw(st.sampled_from((52.52, 52.6, 52.745))),
        min_age=min_age,
        max_age=min_age + 20,
    )


@st.composite
def tickets(draw: st.DrawFn, user_id: str) -> Ticket:
    """A ticket of that user: any profile, any credit, any skips, any wait, any tier."""
    return ticket(draw(people(user_id)), draw(waits_s), draw(credits), draw(skips), draw(tiers))


@st.composite
def crowds(draw: st.DrawFn, size: int = 12) -> list[Ticket]:
    """The tickets of some of a crowd, each user once."""
    ids = draw(st.lists(st.sampled_from(crowd_ids(size)), unique=True, max_size=size))
    return [draw(tickets(user_id)) for user_id in ids]
