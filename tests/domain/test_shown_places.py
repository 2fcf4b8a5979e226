"""Shown places: far enough from exact positions, the same for all viewers, limited in changes."""

from __future__ import annotations

from datetime import date
from math import ceil
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.domain.crowds import START, person
from yoked_actor.domain.people import Person, ShownPlaces, band_km, distance_km
from yoked_actor.domain.people.shown_places import BANDS_KM
from yoked_actor.domain.time import after

PLACES = ShownPlaces(b"a secret of the server", every_s=3600.0)
PARIS: dict[str, Any] = {"lat": 48.8566, "lon": 2.3522}
lats, lons = st.floats(-85, 85), st.floats(-180, 180)


def off_km(places: ShownPlaces, one: Person, now: int = START) -> float:
    lat, lon = places.of(one, now)
    return distance_km(one, msgspec.structs.replace(one, lat=lat, lon=lon))


@given(lat=lats, lon=lons, name=st.integers(0, 10**9))
def test_nobody_is_shown_within_a_kilometre_of_where_they_are(lat, lon, name) -> None:
    off = off_km(PLACES, person(f"u{name}", lat=lat, lon=lon))
    assert 1.0 <= off <= 4.0


@pytest.mark.parametrize("lat", [-90.0, -89.999, 89.99, 90.0])
def test_there_is_a_shown_place_at_the_poles(lat: float) -> None:
    assert off_km(PLACES, person("ana", lat=lat, lon=12.0)) < 6.0


def test_a_move_within_a_cell_shows_nothing() -> None:
    shown = [PLACES.snapped("ana", 52.5 + step / 10_000, 13.4) for step in range(2000)]
    # 22 km to the north are some eleven cells, whatever the steps.
    assert 10 <= len(set(shown)) <= 13


def test_a_shown_place_needs_the_secret_and_is_each_ones_own() -> None:
    at = (52.5, 13.4)
    assert PLACES.snapped("ana", *at) == ShownPlaces(PLACES.secret).snapped("ana", *at)
    assert PLACES.snapped("ana", *at) != PLACES.snapped("ben", *at)
    assert PLACES.snapped("ana", *at) != ShownPlaces(b"another").snapped("ana", *at)


@pytest.mark.parametrize(
    ("km", "edge"),
    [(0, 2), (2, 2), (2.001, 5), (7, 10), (26, 50), (499, 500), (2001, 5000), (20_015, 20_000)],
)
def test_a_distance_is_told_as_the_upper_edge_of_its_band(km: float, edge: int) -> None:
    assert band_km(km) == edge


def test_a_card_shows_exactly_what_the_contract_lists() -> None:
    ana = person("ana", "woman", birth_date=date(1998, 4, 2), interests=("jazz", "climbing"))
    card = PLACES.card(ana, person("ben", **PARIS), START)
    assert msgspec.to_builtins(card) == {
        "user_id": "ana",
        "display_name": "Ana",
        "age": 27,
        "gender": "woman",
        "interests": ("jazz", "climbing"),
        "distance_km": 1000,
    }


@given(lat=lats, lon=lons)
def test_both_are_told_the_same_band_about_right(lat, lon) -> None:
    ana, ben = person("ana", lat=lat, lon=lon), person("ben")
    told = PLACES.card(ana, ben, START).distance_km
    assert told == PLACES.card(ben, ana, START).distance_km
    assert told in BANDS_KM
    exact = distance_km(ana, ben)
    assert band_km(max(0.0, exact - 8)) <= told <= band_km(exact + 8)


def test_a_changed_position_is_shown_once_in_a_while() -> None:
    home = PLACES.moved(None, person("ana"), START)
    berlin = PLACES.of(home, START)
    away = PLACES.moved(home, person("ana", **PARIS), after(START, 60))
    assert (away.lat, away.lon) == (PARIS["lat"], PARIS["lon"])
    assert PLACES.of(away, after(START, 3599)) == berlin
    # Without another word from her, when the time is over.
    paris = PLACES.of(away, after(START, 3600))
    assert paris == PLACES.snapped("ana", **PARIS)
    # That was a change, at that time: the next one has to wait as long.
    back = PLACES.moved(away, person("ana"), after(START, 4000))
    assert PLACES.of(back, after(START, 7199)) == paris
    assert PLACES.of(back, after(START, 7200)) == berlin


def test_a_move_after_the_time_is_shown_at_once_and_one_to_the_same_place_costs_nothing() -> None:
    home = PLACES.moved(None, person("ana"), START)
    same = PLACES.moved(home, person("ana", display_name="Anna"), after(START, 3599))
    assert same.shown == home.shown
    away = PLACES.moved(same, person("ana", **PARIS), after(START, 3600))
    assert PLACES.of(away, after(START, 3600)) == PLACES.snapped("ana", **PARIS)


def test_a_profile_from_before_is_shown_where_its_position_is_snapped_to() -> None:
    assert PLACES.of(person("ana"), START) == PLACES.snapped("ana", 52.52, 13.4)
    assert ceil(off_km(PLACES, person("ana"))) in (2, 3, 4)
