"""A user who moves about tries to find out where another one is, through all that is shown.

The attacker is stronger than a real one: the limit on how often a move is shown is off, and it
knows where its own accounts are shown to be. What it finds is the shown place of its target, which
is a kilometre or more from the exact one.
"""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from math import cos, radians
from typing import Any

import numpy as np
import pytest
from trio.testing import MockClock

from tests.actors.morning import START, connect_pair
from tests.scenarios.meeting import MAN, WOMAN, settle
from yoked_actor.domain.people import ShownPlaces, distance_km
from yoked_actor.domain.people.shown_places import BANDS_KM
from yoked_actor.testing import World, make_profile, open_world

LAT, LON = 52.5163, 13.3777
HERE: dict[str, Any] = {"lat": LAT, "lon": LON, "max_distance_km": 25_000}
DEGREE_KM = 111.195
Look = Callable[[], Awaitable[int | None]]
Sample = tuple[float, float, int]


def estimate(samples: list[Sample]) -> tuple[float, float]:
    """The middle of all places that agree with the most of what was seen."""
    step = np.linspace(-12, 12, 481)
    east, north = np.meshgrid(step, step)
    agree = np.zeros_like(east)
    for lat, lon, band in samples:
        y, x = (lat - LAT) * DEGREE_KM, (lon - LON) * DEGREE_KM * cos(radians(LAT))
        km = np.hypot(east - x, north - y)
        number = BANDS_KM.index(band)
        least = BANDS_KM[number - 1] if number else -1
        agree += (km > least) & (km <= band)
    best = agree == agree.max()
    lat = LAT + north[best].mean() / DEGREE_KM
    return float(lat), float(LON + east[best].mean() / DEGREE_KM / cos(radians(LAT)))


def shown(world: World, user_id: str) -> tuple[float, float]:
    floor = world.server.live.lobby.floor
    return floor.places.of(floor.person(user_id), world.now())


def km_between(one: tuple[float, float], other: tuple[float, float]) -> float:
    north = (one[0] - other[0]) * DEGREE_KM
    east = (one[1] - other[1]) * DEGREE_KM * cos(radians(LAT))
    return float(np.hypot(north, east))


async def attack(
    world: World, spy: str, looks: dict[str, Look], count: int = 48, **profile: Any
) -> dict[str, list[Sample]]:
    """Move an account about, and note what each door shows, and where the account is shown."""
    chance = random.Random(7)
    seen: dict[str, list[Sample]] = {name: [] for name in looks}
    for _ in range(count):
        # Around the edges of the first bands: they tell the most.
        far, turn = chance.choice((3, 5, 6, 10, 11)), chance.uniform(0, 6.2832)
        lat = LAT + far * np.sin(turn) / DEGREE_KM
        lon = LON + far * np.cos(turn) / DEGREE_KM / cos(radians(LAT))
        wanted = make_profile(spy, **{**MAN, **profile, "lat": float(lat), "lon": float(lon)})
        await world.api(spy).call("PUT", "/api/profile", wanted)
        for name, look in looks.items():
            band = await look()
            if band is not None:
                seen[name].append((*shown(world, spy), band))
    return seen


def judge(world: World, target: str, seen: dict[str, list[Sample]]) -> None:
    for door, samples in seen.items():
        assert len(samples) > 30, door
        assert {band for *_, band in samples} <= set(BANDS_KM)
        found = estimate(samples)
        assert km_between(found, (LAT, LON)) >= 1.0, door
        # It is no blind guess: the attack works, and finds the shown place.
        assert km_between(found, shown(world, target)) < 0.5, door


async def test_offers_connections_and_dates_do_not_reveal_where_a_user_is(
    autojump_clock: MockClock,
) -> None:
    settings = {"matching": {"shown_place_every_s": 0}, "edge": {"commands_burst": 10_000}}
    async with open_world(start=START, settings=settings) as world:
        await connect_pair(world)
        profile = make_profile("Ana", **WOMAN, **HERE)
        await world.api("ana").call("PUT", "/api/profile", profile)
        rob = await world.join("rob", **MAN, **HERE)
        ana = await world.connect("ana")
        await settle(ana, rob, ("yes", "yes"))

        async def offers() -> int | None:
            found = await world.api("ben").call("GET", "/api/offers")
            [one] = found["offers"]
            band = one["candidate"]["distance_km"]
            assert f"within {band} km" in one["reasons"]
            return int(band)

        async def connections() -> int | None:
            [one] = (await world.api("ben").call("GET", "/api/connections"))["connections"]
            return int(one["partner"]["distance_km"])

        async def date() -> int | None:
            found = await world.api("rob").call("GET", "/api/match/status")
            return int(found["date"]["partner"]["distance_km"])

        seen = await attack(world, "ben", {"offers": offers, "connections": connections})
        seen |= await attack(world, "rob", {"date": date})
        judge(world, "ana", seen)
        # Several accounts see one place: of the target, not of the viewer.
        assert km_between(estimate(seen["offers"]), estimate(seen["date"])) < 0.7


async def test_neither_a_match_nor_an_explanation_reveals_where_a_user_is(
    autojump_clock: MockClock,
) -> None:
    settings = {
        "matching": {
            "shown_place_every_s": 0,
            "tier2_after_s": 10_000,
            "tier3_after_s": 10_000,
            "forced_after_s": 10_000,
            "acknowledge_window_s": 10_000,
        },
        "edge": {"commands_burst": 10_000},
    }
    async with open_world(start=START, settings=settings) as world:
        for name in ("ana", "tia"):
            await world.sign_up(name, **WOMAN, **HERE)
        for name in ("rob", "max"):
            await world.sign_up(name, **MAN, **{**HERE, "lat": LAT + 0.1, "max_distance_km": 20})
        for name in ("ana", "rob"):
            await world.api(name).call("POST", "/api/spin")

        async def match() -> int | None:
            found = await world.api("rob").call("GET", "/api/match/status")
            return int(found["match"]["partner"]["distance_km"])

        narrow: dict[str, Any] = {"max_distance_km": 0.5}
        await world.api("max").call("PUT", "/api/profile", make_profile("Max", **MAN, **narrow))
        for name in ("tia", "max"):
            await world.api(name).call("POST", "/api/spin")

        async def explain() -> int | None:
            found = await world.api("max").call("GET", "/api/explain")
            nearest = found["nearest"]
            if nearest is None:
                return None
            assert nearest["constraint"] == "distance"
            return int(nearest["by"] + 0.5)

        judge(world, "ana", await attack(world, "rob", {"match": match}))
        judge(world, "tia", await attack(world, "max", {"explain": explain}, **narrow))


async def test_a_move_is_shown_once_in_six_hours_and_survives_a_restart(
    autojump_clock: MockClock, tmp_path: Any
) -> None:
    path = tmp_path / "yoked.db"
    async with open_world(start=START, database=path) as world:
        await world.sign_up("ana", **WOMAN, **HERE)
        await world.sign_up("ben", **MAN, **HERE)
        for name in ("ana", "ben"):
            await world.api(name).call("POST", "/api/spin")

        async def told() -> int:
            found = await world.api("ana").call("GET", "/api/match/status")
            return int(found["match"]["partner"]["distance_km"])

        before, places = await told(), world.server.live.lobby.floor.places
        assert before <= 10
        hamburg = make_profile("Ben", **MAN, lat=53.55, lon=10.0, max_distance_km=500)
        await world.api("ben").call("PUT", "/api/profile", hamburg)
        assert await told() == before
        assert (await world.api("ben").call("GET", "/api/profile"))["location"]["lat"] == 53.55
        await world.crash()
        await world.start()
        again = world.server.live.lobby.floor
        assert (again.places.secret, again.places.every_s) == (places.secret, places.every_s)
        ben = again.person("ben")
        assert distance_km(ben, again.person("ana")) == pytest.approx(255, abs=5)
        assert await told() == before
        later = world.now() + 6 * 3600 * 1_000_000
        assert again.places.card(ben, again.person("ana"), later).distance_km == 500


def test_the_default_places_of_two_servers_differ() -> None:
    at = (LAT, LON)
    assert ShownPlaces(b"one").snapped("ana", *at) != ShownPlaces(b"other").snapped("ana", *at)
