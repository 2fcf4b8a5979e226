"""Objectives of a whole server: people meet, offers are made, and the operator sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import join_pair, settle
from tests.scenarios.test_alerts_told import fill_disk, make_room
from yoked_actor.client import Api, CallRefused
from yoked_actor.testing import World, open_world


async def kept(world: World, window: int = 2) -> dict[str, tuple[int, int]]:
    """Good and bad events of each objective, in a window."""
    answer = await operator(world).call("GET", "/api/admin/objectives")
    found: dict[str, tuple[int, int]] = {}
    for one in answer["objectives"]:
        part: dict[str, Any] = one["windows"][window]
        found[one["objective"]] = (part["good"], part["bad"])
        counted = world.server.base.metrics.registry.get_sample_value
        labels = {"objective": one["objective"]}
        assert counted("yoked_objective_target", labels) == one["target"]
        for result, number in zip(("good", "bad"), found[one["objective"]], strict=True):
            name, more = "yoked_objective_events_total", {**labels, "result": result}
            assert counted(name, more) == number
    return found


async def test_two_who_meet_and_vote_at_once_are_good_events(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("yes", "pass"))
        assert await kept(world) == {
            "morning_sets": (0, 0),
            "offers_duration": (0, 0),
            "match_wait": (2, 0),
            "vote_latency": (2, 0),
            "spin_availability": (2, 0),
        }


async def test_a_spin_that_the_store_keeps_for_long_is_a_bad_event(autojump_clock, tmp_path: Path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana = await world.join("ana")
        fill_disk(world)
        async with trio.open_nursery() as nursery:
            # Some of these need a new page, and so nobody is answered.
            for number in range(60):
                interests = [f"{number} {n:030}" for n in range(30)]
                nursery.start_soon(_sign_up, world, f"guest{number}", interests)
            await trio.sleep(1)
            nursery.start_soon(ana.spin)
            await trio.sleep(20)
            make_room(world)
        assert (await kept(world))["spin_availability"] == (0, 1)


async def _sign_up(world: World, user_id: str, interests: list[str]) -> None:
    try:
        await world.sign_up(user_id, interests=interests)
    except CallRefused:
        pass


async def test_a_morning_is_good_when_its_sets_are_on_time_and_late_ones_are_bad(autojump_clock):
    async with open_world() as world:
        for user_id, gender, seeks in (("ana", "woman", "man"), ("ben", "man", "woman")):
            await world.sign_up(user_id, gender=gender, seeking=[seeks], time_zone="UTC")
        await trio.sleep(2 * 3600)
        found = await kept(world)
        assert (found["morning_sets"], found["offers_duration"]) == ((2, 0), (2, 0))


async def test_objectives_are_for_the_operator(autojump_clock):
    async with open_world() as world:
        api = Api("http://world.test", world.token("ana"), dial=world.dial())
        with pytest.raises(CallRefused) as refused:
            await api.call("GET", "/api/admin/objectives")
    assert (refused.value.status, refused.value.code) == (403, "forbidden")
