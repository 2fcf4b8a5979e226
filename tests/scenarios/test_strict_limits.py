"""Strict limits: never widened, in line and in the offers of the morning (R8, R9, R43)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, news, told
from tests.scenarios.test_mornings import BERLIN, MONDAY, SIX, TUESDAY, offered, sets_of, until
from yoked_actor.store.engine.sqlite.schema import migrations
from yoked_actor.testing import make_profile, open_world

HAMBURG = {"lat": 53.55, "lon": 10.00}  # 254 km from Berlin.
OLD = {"birth_date": "1960-01-01"}
HERS: dict[str, Any] = {**WOMAN, "min_age": 25, "max_age": 35, "max_distance_km": 50}


@pytest.mark.parametrize(
    ("strict", "he_is", "cost"),
    [
        (["age"], OLD, {"age": 1, "distance": 0}),
        (["distance"], HAMBURG, {"age": 0, "distance": 1}),
        (["age", "distance"], OLD, {"age": 1, "distance": 0}),
        (["distance", "age"], HAMBURG | OLD, {"age": 0, "distance": 0}),
    ],
)
async def test_a_strict_limit_holds_until_it_is_lifted_and_explain_says_what_it_costs(
    autojump_clock, strict, he_is, cost
):
    async with open_world() as world:
        ana = await world.join("ana", **HERS, strict=strict)
        ben = await world.join("ben", **MAN, **he_is)
        await ana.spin()
        await ben.spin()
        assert (await ana.explain()).strict == cost
        assert (await ben.explain()).strict == {"age": 0, "distance": 0}
        await trio.sleep(600)
        assert told(await news(ana)) == [("waiting", "spun"), ("tier", 2), ("tier", 99)]
        assert (await ana.explain()).strict == cost
        assert (await world.api("ana").call("GET", "/api/explain"))["strict"] == cost
        await world.api("ana").call("PUT", "/api/profile", make_profile("Ana", **HERS))
        assert told(await news(ana)) == [("matched",)]
        assert world.audit() == []


async def test_a_limit_of_the_other_is_as_strict(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **HERS, strict=["age", "distance"])
        ben = await world.join("ben", **MAN, **HAMBURG, max_distance_km=300)
        await ana.spin()
        await trio.sleep(60)
        await ben.spin()
        await trio.sleep(60)
        assert told(await news(ben)) == [("waiting", "spun"), ("tier", 2), ("tier", 99)]
        near = await world.join("carl", **MAN)
        await near.spin()
        assert (await ana.wait_for("matched")).partner["user_id"] == "carl"


async def test_a_strict_limit_is_kept_through_a_crash_and_is_in_the_export(
    autojump_clock, tmp_path
):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana = await world.join("ana", **HERS, strict=["distance", "age"])
        ben = await world.join("ben", **MAN, **HAMBURG)
        await ana.spin()
        await ben.spin()
        await trio.sleep(5)
        await world.crash()
        await world.start()
        await ana.wait_connected()
        await ben.wait_connected()
        await trio.sleep(60)
        assert [kind for kind, *_ in told(await news(ana))][-1] != "matched"
        assert (await ana.explain()).strict == {"age": 0, "distance": 1}
        profile = await world.api("ana").call("GET", "/api/profile")
        assert profile["preferences"]["strict"] == ["age", "distance"]
        export = await world.api("ana").call("GET", "/api/me/export")
        assert export["profile"]["strict"] == ["age", "distance"]


async def test_a_profile_from_before_strict_limits_has_none(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    with closing(sqlite3.connect(database)) as connection:
        for step in migrations():
            if step.name == "strict_limits":
                break
            connection.executescript(f"{step.text}\nPRAGMA user_version = {step.version};")
        connection.execute(
            "INSERT INTO people (user_id, display_name, birth_date, gender, lat, lon, time_zone,"
            " interests, seeking, min_age, max_age, max_distance_km) VALUES ('ana', 'Ana',"
            " '1998-04-02', 'woman', 52.5, 13.4, 'Europe/Berlin', '[]', '[\"man\"]', 25, 35, 50.0)"
        )
        connection.commit()
    async with open_world(database=database) as world:
        profile = await world.api("ana").call("GET", "/api/profile")
        assert profile["display_name"] == "Ana"
        assert profile["preferences"]["strict"] == []


async def test_the_offers_of_a_morning_stay_inside_a_strict_limit(autojump_clock):
    async with open_world(start=SIX) as world:
        near = {"lat": 52.6, "lon": 13.5}
        north_55_km = {"lat": 53.015, "lon": 13.4}
        a_year_too_old = {"birth_date": "1989-01-01"}
        wide = {"max_distance_km": 500}
        await world.sign_up("near", **MAN, **near, **wide)
        await world.sign_up("farther", **MAN, **north_55_km, **wide)
        await world.sign_up("older", **MAN, **near, **wide, **a_year_too_old)
        limits = {"soft": [], "a": ["age"], "d": ["distance"], "ad": ["age", "distance"]}
        for user_id, strict in limits.items():
            await world.sign_up(user_id, **HERS, strict=strict)
        await until(world, "2026-03-02T08:00:01Z")
        sets = await sets_of(world, BERLIN, MONDAY)
        found = {user_id: sorted(offered(sets[user_id])) for user_id in limits}
        assert found == {
            "soft": ["farther", "near", "older"],
            "a": ["farther", "near"],
            "d": ["near", "older"],
            "ad": ["near"],
        }


async def test_a_limit_made_strict_holds_on_the_next_morning_for_both_and_through_a_crash(
    autojump_clock, tmp_path
):
    too_old = {"birth_date": "1989-01-01"}
    async with open_world(database=tmp_path / "yoked.db", start=SIX) as world:
        for user_id in ("soft", "changed"):
            await world.sign_up(user_id, **HERS)
        await world.sign_up("first", **MAN, **too_old)
        await until(world, "2026-03-02T08:00:01Z")
        sets = await sets_of(world, BERLIN, MONDAY)
        assert offered(sets["soft"]) == offered(sets["changed"]) == ["first"]
        strict = make_profile("Changed", **HERS, strict=["age"])
        await world.api("changed").call("PUT", "/api/profile", strict)
        await world.sign_up("second", **MAN, **too_old)
        await world.crash()
        await world.start()
        await until(world, "2026-03-03T08:00:01Z")
        sets = await sets_of(world, BERLIN, TUESDAY)
        assert "second" in offered(sets["soft"])
        assert offered(sets["changed"]) == []
        # Nor is she offered to him, whose own limits admit her.
        assert "changed" not in offered(sets["second"])
