"""What a user changes while waiting applies at once, over socket and HTTP (R9)."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match, news, state_of, status, told
from yoked_actor.testing import make_profile, open_world

HAMBURG = {"lat": 53.55, "lon": 10.00}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"seeking": ["woman"]}, {"seeking": ["woman", "man"]}),
        ({"seeking": ["man"], "gender": "nonbinary"}, {"seeking": ["man"]}),
        ({"seeking": ["man"], "min_age": 50}, {"seeking": ["man"], "min_age": 18}),
        ({"seeking": ["man"], **HAMBURG}, {"seeking": ["man"]}),
        ({"seeking": ["man"], "max_distance_km": 1}, {"seeking": ["man"], "max_distance_km": 50}),
    ],
    ids=["seeking", "gender", "age", "place", "distance"],
)
async def test_a_new_profile_pairs_in_the_same_instant(autojump_clock, before, after):
    async with open_world() as world:
        ben = await world.join("ben", **MAN, lat=52.6)
        ana = await world.join("ana", **{"gender": "woman", **before})
        await ben.spin()
        assert (await ana.spin()).state == "waiting"
        await trio.sleep(1)
        profile = make_profile("Ana", **{"gender": "woman", **after})
        await world.api("ana").call("PUT", "/api/profile", profile)
        assert trio.current_time() == 1
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"
        # The place in line is the old one: what was changed is not the wait.
        assert (await ben.wait_for("matched")).partner["display_name"] == "Ana"
        assert trio.current_time() == 1


async def test_narrower_limits_apply_to_the_next_user(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        await world.api("ana").call("PUT", "/api/profile", make_profile("Ana", **WOMAN, min_age=50))
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "waiting"
        assert (await ana.explain()).rejected_by["age"] == 1


@pytest.mark.parametrize("door", ["socket", "http"])
async def test_a_block_applies_to_the_next_user(autojump_clock, door):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        if door == "socket":
            await ana.block("ben")
        else:
            await world.api("ana").call("POST", "/api/blocks", {"user_id": "ben"})
        assert (await ben.spin()).state == "waiting"
        await trio.sleep(100)
        assert await state_of(world, "ana") == "waiting"
        # And when it is taken back they are paired in that instant.
        await world.api("ana").call("DELETE", "/api/blocks/ben")
        assert (await ana.wait_for("matched")).partner["user_id"] == "ben"
        assert trio.current_time() == 100


@pytest.mark.parametrize("door", ["socket", "http"])
@pytest.mark.parametrize("stage", ["matched", "voting"])
async def test_a_block_during_a_match_cancels_it(autojump_clock, door, stage):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await ana.spin()
        since = (await ana.wait_for("waiting")).since
        await trio.sleep(1)
        spun = await ben.spin()
        if stage == "voting":
            for client in (ana, ben):
                await client.acknowledge(spun.match_id)
        await news(ana)
        await news(ben)
        if door == "socket":
            await ana.block("ben")
        else:
            await world.api("ana").call("POST", "/api/blocks", {"user_id": "ben"})
        assert told(await news(ana)) == [
            ("match_cancelled", "blocked", "waiting"),
            ("waiting", "requeued"),
        ]
        assert told(await news(ben)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
        ]
        assert (await status(world, "ana"))["waiting_since"] == since
        await trio.sleep(120)
        assert "matched" not in [event.type for event in (*await news(ana), *await news(ben))]
        assert world.audit() == []


async def test_a_profile_that_is_changed_during_a_match_changes_nothing_about_it(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        profile = make_profile("Ana", gender="woman", seeking=["woman"])
        await world.api("ana").call("PUT", "/api/profile", profile)
        for client in (ana, ben):
            await client.acknowledge(match_id)
        await ana.wait_for("voting")
