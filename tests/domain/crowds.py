"""People for tests: builders with sensible defaults, and the strategies of the domain."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import strategies as st

from yoked_actor.domain.fairness import Ticket
from yoked_actor.domain.instants import Instant, after, from_datetime
from yoked_actor.domain.people import Person

START: Instant = from_datetime(datetime(2026, 1, 1, 8, 0, tzinfo=UTC))
"""Where the clock of a test begins."""

GENDERS = ("woman", "man", "nonbinary")
EVERYONE = frozenset(GENDERS)


def person(
    user_id: str, gender: str = "woman", seeking: str | frozenset[str] = EVERYONE, **other: Any
) -> Person:
    """A person in Berlin, born in 1995, who seeks everyone unless told otherwise."""
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


def ticket(who: Person, waited_s: float = 0.0, credit: int = 0) -> Ticket:
    """The ticket of somebody who has waited so long at START."""
    return Ticket(who, after(START, -waited_s), credit)


genders = st.sampled_from(GENDERS)

seekings = st.frozensets(genders, min_size=1)

credits = st.integers(min_value=0, max_value=5).map(lambda steps: steps * 10)

waits_s = st.one_of(
    st.floats(min_value=0, max_value=200, allow_nan=False),
    # Around the starvation edge, where the order turns over.
    st.sampled_from((0.0, 59.0, 59.999999, 60.0, 60.000001, 61.0)),
)

positions = st.tuples(
    st.floats(min_value=-90, max_value=90), st.floats(min_value=-180, max_value=180)
)

adults_birth_dates = st.dates(min_value=date(1930, 1, 1), max_value=date(2007, 12, 31))


def crowd_ids(size: int) -> tuple[str, ...]:
    """The user ids of a crowd."""
    return tuple(f"u{number}" for number in range(size))


@st.composite
def people(draw: st.DrawFn, user_id: str) -> Person:
    """A profile of that user with any gender and any seeking."""
    return person(user_id, draw(genders), draw(seekings))


@st.composite
def tickets(draw: st.DrawFn, user_id: str) -> Ticket:
    """A ticket of that user: any profile, any credit, any wait."""
    return ticket(draw(people(user_id)), draw(waits_s), draw(credits))


@st.composite
def crowds(draw: st.DrawFn, size: int = 12) -> list[Ticket]:
    """The tickets of some of a crowd, each user once."""
    ids = draw(st.lists(st.sampled_from(crowd_ids(size)), unique=True, max_size=size))
    return [draw(tickets(user_id)) for user_id in ids]
