"""Age, distance, cards, and refused profiles."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import EVERYONE, START, adults_birth_dates, person, positions
from yoked_actor.domain.people import (
    ProfileProblem,
    age_at,
    age_on,
    check_person,
    distance_km,
    is_user_id,
    latest_adult,
)
from yoked_actor.domain.time import after, from_datetime, utc_date

BERLIN: dict[str, Any] = {"lat": 52.52, "lon": 13.405}
PARIS: dict[str, Any] = {"lat": 48.8566, "lon": 2.3522}
SYDNEY: dict[str, Any] = {"lat": -33.8688, "lon": 151.2093}
LONDON: dict[str, Any] = {"lat": 51.5074, "lon": -0.1278}
HALF_ROUND_KM = 20_015.1


@pytest.mark.parametrize("good", ["a", "Ana_1.2:x@y-z", "x" * 64])
def test_an_id_of_allowed_characters_is_a_user_id(good: str) -> None:
    assert is_user_id(good)


@pytest.mark.parametrize("bad", ["", "x" * 65, "a b", "ana\n", "añ", "a/b", "a\x00", "\n"])
def test_anything_else_is_no_user_id(bad: str) -> None:
    assert not is_user_id(bad)


@pytest.mark.parametrize(
    ("today", "age"),
    [
        (date(2026, 6, 14), 17),
        (date(2026, 6, 15), 18),
        (date(2026, 6, 16), 18),
        (date(2027, 6, 14), 18),
        (date(2027, 1, 1), 18),
    ],
)
def test_a_year_is_counted_from_the_birthday_on(today: date, age: int) -> None:
    assert age_on(date(2008, 6, 15), today) == age


@pytest.mark.parametrize(
    ("today", "age"),
    [
        (date(2026, 2, 28), 17),
        (date(2026, 3, 1), 18),
        (date(2028, 2, 28), 19),
        (date(2028, 2, 29), 20),
    ],
)
def test_a_user_who_was_born_on_a_leap_day_turns_a_year_older_on_1_march(
    today: date, age: int
) -> None:
    assert age_on(date(2008, 2, 29), today) == age


@given(born=adults_birth_dates, days=st.integers(0, 40_000))
def test_age_never_falls_and_rises_by_one_at_most_from_day_to_day(born: date, days: int) -> None:
    today = born + timedelta(days=days)
    rise = age_on(born, today + timedelta(days=1)) - age_on(born, today)
    assert rise in (0, 1)
    assert abs(age_on(born, today) - days / 365.2425) < 1.01


def test_age_is_judged_by_the_day_in_utc() -> None:
    born = person("ana", birth_date=date(2008, 1, 2))
    midnight = from_datetime(datetime(2026, 1, 2, tzinfo=UTC))
    assert age_at(born, midnight - 1) == 17
    assert age_at(born, midnight) == 18


@given(moment=st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)))
def test_the_day_of_an_instant_is_the_day_of_its_datetime(moment: datetime) -> None:
    assert utc_date(from_datetime(moment.replace(tzinfo=UTC))) == moment.date()


@pytest.mark.parametrize(
    ("one", "other", "km"),
    [
        (BERLIN, PARIS, 877.5),
        (LONDON, PARIS, 343.6),
        (BERLIN, SYDNEY, 16_094.0),
        ({"lat": 0.0, "lon": 0.0}, {"lat": 0.0, "lon": 1.0}, 111.195),
        ({"lat": 0.0, "lon": 179.5}, {"lat": 0.0, "lon": -179.5}, 111.195),
        ({"lat": 90.0, "lon": 0.0}, {"lat": -90.0, "lon": 77.0}, HALF_ROUND_KM),
    ],
)
def test_known_distances_come_out(one, other, km: float) -> None:
    assert distance_km(person("a", **one), person("b", **other)) == pytest.approx(km, rel=0.002)


@given(one=positions, other=positions)
def test_distance_is_symmetric_bounded_and_nought_only_to_oneself(one, other) -> None:
    a = person("a", lat=one[0], lon=one[1])
    b = person("b", lat=other[0], lon=other[1])
    assert distance_km(a, a) == 0
    assert distance_km(a, b) == pytest.approx(distance_km(b, a), abs=1e-6)
    assert 0 <= distance_km(a, b) <= HALF_ROUND_KM + 0.1


def test_a_complete_profile_is_accepted() -> None:
    check_person(person("ana"), START, EVERYONE)


def test_a_gender_that_the_configuration_adds_is_accepted() -> None:
    check_person(person("ana", "agender", frozenset({"agender"})), START, EVERYONE | {"agender"})


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"birth_date": date(2008, 1, 2)}, "underage"),
        ({"birth_date": date(2026, 1, 2)}, "bad_request"),
        ({"birth_date": date(1890, 1, 1)}, "bad_request"),
        ({"gender": "other"}, "bad_request"),
        ({"seeking": frozenset()}, "bad_request"),
        ({"seeking": frozenset({"woman", "other"})}, "bad_request"),
        ({"min_age": 17}, "bad_request"),
        ({"min_age": 40, "max_age": 39}, "bad_request"),
    ],
)
def test_a_profile_that_may_not_spin_is_refused_with_a_code_and_a_reason(changes, code) -> None:
    who = person(**{"user_id": "ana", **changes})
    with pytest.raises(ProfileProblem) as caught:
        check_person(who, START, EVERYONE)
    assert caught.value.code == code
    assert caught.value.message


def test_one_is_of_age_on_the_eighteenth_birthday_and_not_the_day_before() -> None:
    born = person("ana", birth_date=date(2008, 1, 2))
    with pytest.raises(ProfileProblem) as caught:
        check_person(born, START, EVERYONE)
    assert caught.value.code == "underage"
    check_person(born, after(START, 86_400), EVERYONE)


@given(st.dates(date(2020, 1, 1), date(2032, 12, 31)), st.integers(-3, 3))
def test_the_latest_birth_date_of_an_adult_is_the_last_of_age_18(today: date, off: int) -> None:
    born = latest_adult(today) + timedelta(days=off)
    assert (born <= latest_adult(today)) == (age_on(born, today) >= 18)


def test_on_a_leap_day_nobody_born_in_march_is_an_adult_too_early() -> None:
    assert latest_adult(date(2028, 2, 29)) == date(2010, 2, 28)
