"""A waiting user can ask why, over socket and HTTP, with the same answer."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from yoked_actor.client import CallRefused, CommandRefused
from yoked_actor.testing import open_world

HAMBURG = {"lat": 53.55, "lon": 10.00}


async def test_the_answer_counts_rejections_by_rule_and_names_the_nearest(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN, min_age=25, max_age=35)
        others = [
            await world.join("eva", gender="woman", seeking=["nonbinary"]),
            await world.join("ed", **MAN, birth_date="1940-01-01"),
            await world.join("ben", **MAN, **HAMBURG, max_distance_km=500),
            await world.join("gus", **MAN, **HAMBURG),
            await world.join("mallory", **MAN),
        ]
        await others[-1].block("ana")
        await ana.spin()
        for one in others:
            await one.spin()
        await trio.sleep(1)
        reply = await ana.explain()
        answer = await world.api("ana").call("GET", "/api/explain")
    assert {key: value for key, value in reply.fields.items() if key not in ("type", "re")} == {
        "waiting_s": 1.0,
        "tier": 1,
        "next_tier_in_s": 1.0,
        "pool": 5,
        "rejected_by": {"seeking": 1, "history": 1, "age": 1, "distance": 2},
        "nearest": {"constraint": "distance", "by": 400, "unit": "km", "gives": 1},
        "strict": {"age": 0, "distance": 0},
    }
    assert answer == {key: reply.fields[key] for key in answer}


async def test_the_answer_follows_the_wait(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        await ana.spin()
        seen = []
        for pause_s in (0, 5, 6):
            await trio.sleep(pause_s)
            reply = await ana.explain()
            seen.append((reply.waiting_s, reply.tier, reply.next_tier_in_s, reply.pool))
            assert reply.nearest is None
        assert seen == [(0.0, 1, 2.0, 0), (5.0, 2, 5.0, 0), (11.0, 99, None, 0)]


async def test_asking_is_a_sign_of_life(autojump_clock):
    async with open_world() as world:
        api = await world.sign_up("ana", **WOMAN)
        await api.call("POST", "/api/spin")
        for _ in range(5):
            await trio.sleep(9)
            answer = await api.call("GET", "/api/explain")
        assert answer["waiting_s"] == 45.0


@pytest.mark.parametrize("state", ["idle", "matched"])
async def test_a_user_who_does_not_wait_is_refused_over_socket_and_http(autojump_clock, state):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        if state == "matched":
            await match(ana, ben)
        with pytest.raises(CommandRefused) as refused:
            await ana.explain()
        assert refused.value.code == "wrong_state"
        with pytest.raises(CallRefused) as problem:
            await world.api("ana").call("GET", "/api/explain")
        assert (problem.value.status, problem.value.code) == (409, "wrong_state")
