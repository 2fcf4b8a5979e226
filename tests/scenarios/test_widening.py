"""Limits widen with a user's own wait, not with that of others."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, news, status, told
from tests.scenarios.talker import Talker
from yoked_actor.testing import open_world

BORN_1995 = {"birth_date": "1995-06-15"}  # Thirty in the world of tests.
POTSDAM = {"lat": 52.40, "lon": 13.06}  # 26 km from Berlin.
HAMBURG = {"lat": 53.55, "lon": 10.00}  # 254 km from Berlin.
SYDNEY = {"lat": -33.87, "lon": 151.21}


@pytest.mark.parametrize(
    ("wants", "he_is", "after_s"),
    [
        ({"min_age": 30}, {}, 0),
        ({"min_age": 31}, {}, 2),
        ({"min_age": 32}, {}, 2),
        ({"min_age": 33}, {}, 10),
        ({"max_age": 28}, {}, 2),
        ({"max_age": 25}, {}, 10),
        ({"min_age": 90}, {}, 10),
        ({"max_distance_km": 27}, POTSDAM, 0),
        ({"max_distance_km": 23}, POTSDAM, 2),
        ({"max_distance_km": 18}, POTSDAM, 10),
        ({"max_distance_km": 1}, SYDNEY, 10),
    ],
)
async def test_a_user_just_outside_the_limits_is_paired_when_they_widen(
    autojump_clock, wants, he_is, after_s
):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN, **wants)
        ben = await world.join("ben", **MAN, **BORN_1995, **he_is, max_distance_km=20_000)
        await ana.spin()
        await ben.spin()
        await ana.wait_for("matched")
        assert trio.current_time() == after_s
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"


async def test_each_tier_is_sent_once_and_equal_edges_as_the_highest(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        seen: list[tuple[str, int | None, float]] = []
        while len(seen) < 3:
            event = await ana.next_event()
            seen.append((event.type, event.fields.get("tier"), trio.current_time()))
            assert (await status(world, "ana"))["tier"] == (event.fields.get("tier") or 1)
        assert seen == [("waiting", None, 0), ("tier", 2, 2), ("tier", 99, 10)]
        await trio.sleep(300)
        assert await news(ana) == []


async def test_tiers_with_different_edges_are_sent_one_by_one(autojump_clock):
    edges = {"tier2_after_s": 1.0, "tier3_after_s": 5.0, "forced_after_s": 30.0}
    async with open_world(settings={"matching": edges}) as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await trio.sleep(40)
        events = await news(ana)
        assert told(events) == [("waiting", "spun"), ("tier", 2), ("tier", 3), ("tier", 99)]
        assert [event.at[17:19] for event in events] == ["00", "01", "05", "30"]


async def test_limits_do_not_widen_by_the_wait_of_another_user(autojump_clock):
    async with open_world() as world:
        # Ana would take anybody by now; Ben has just come, and wants somebody near.
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await trio.sleep(60)
        ben = await world.join("ben", **MAN, **HAMBURG, max_distance_km=200)
        assert (await ben.spin()).state == "waiting"
        await trio.sleep(9.9)
        # 200 km are 240 at his tier 2.
        assert told(await news(ben)) == [("waiting", "spun"), ("tier", 2)]
        await trio.sleep(0.1)
        assert told(await news(ben)) == [("tier", 99), ("matched",)]
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"


async def test_two_users_past_the_forced_edge_are_paired_whatever_their_limits(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN, min_age=90, max_distance_km=1)
        ben = await world.join("ben", **MAN, **SYDNEY, min_age=80, max_distance_km=1)
        await ana.spin()
        await trio.sleep(5)
        await ben.spin()
        await ana.wait_for("matched")
        assert trio.current_time() == 15
        assert world.audit() == []


async def test_hard_rules_still_apply_past_the_forced_edge(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        eva = await world.join("eva", **WOMAN)
        ben = await world.join("ben", **MAN)
        await ana.block("ben")
        for client in (ana, eva, ben):
            await client.spin()
        # Ben and Eva suit; Ana is left with nobody.
        await eva.wait_for("matched")
        await trio.sleep(3600)
        assert told(await news(ana)) == [("waiting", "spun"), ("tier", 2), ("tier", 99)]


async def test_a_cancelled_match_gives_the_old_tier_back(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        ben = await world.join("ben", **MAN)
        await ana.spin()
        await trio.sleep(3)
        await ben.spin()
        await ana.wait_for("matched")
        await ben.leave()
        await ana.wait_for("waiting")
        assert (await status(world, "ana"))["tier"] == 2
        await trio.sleep(7)
        assert told(await news(ana)) == [("tier", 99)]


async def test_a_new_wait_begins_at_the_first_tier(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await trio.sleep(20)
        await ana.leave()
        await ana.spin()
        assert (await status(world, "ana"))["tier"] == 1
        await news(ana)
        await trio.sleep(10)
        assert told(await news(ana)) == [("tier", 2), ("tier", 99)]


async def test_the_reply_to_a_spin_comes_before_a_tier_that_opens_at_once(autojump_clock):
    edges = {"tier2_after_s": 0.0, "tier3_after_s": 0.0, "forced_after_s": 0.0}
    async with open_world(settings={"matching": edges}) as world:
        await world.sign_up("ana", **WOMAN)
        ana, _ = await Talker.greet(world, "ana")
        assert (await ana.ask("spin"))["state"] == "waiting"
        assert [event["type"] for event in await ana.news()] == ["waiting"]
        assert (await status(world, "ana"))["tier"] == 99
