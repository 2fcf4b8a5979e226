"""Reports are bounded, and one user who reports another again and again counts once."""

from __future__ import annotations

import pytest
import trio

from tests.edge.test_http_admin import operator
from tests.scenarios.meeting import join_pair
from yoked_actor.client import CallRefused, CommandRefused
from yoked_actor.testing import World, open_world

LIMITS: dict[str, dict[str, object]] = {"safety": {"reports_per_day": 5, "reports_per_pair": 2}}


async def report(world: World, by: str, about: str, reason: str = "rude") -> None:
    await world.api(by).call("POST", "/api/reports", {"user_id": about, "reason": reason})


async def times(world: World) -> dict[str, int]:
    found = (await operator(world).call("GET", "/api/admin/reports"))["reports"]
    return {one["reported"]: one["reported_times"] for one in found}


async def test_one_pair_counts_once(autojump_clock):
    async with open_world(settings=LIMITS) as world:
        for by, about in (("ana", "ben"), ("ana", "ben"), ("eva", "ben"), ("ana", "carl")):
            await report(world, by, about)
        assert await times(world) == {"ben": 2, "carl": 1}


async def test_about_one_user_only_so_many_reports_are_open(autojump_clock):
    async with open_world(settings=LIMITS) as world:
        ana, _ = await join_pair(world)
        await report(world, "ana", "ben", "first")
        await ana.command("report", user_id="ben", reason="second")
        with pytest.raises(CallRefused, match="429 rate_limited: you have 2 open reports about"):
            await report(world, "ana", "ben", "third")
        with pytest.raises(CommandRefused, match="rate_limited: you have 2 open reports about"):
            await ana.command("report", user_id="ben", reason="third")
        await report(world, "ana", "carl")
        await report(world, "eva", "ben")
        path = "/api/admin/reports/1/resolve"
        await operator(world).call("POST", path, {"resolution": "warned"})
        await report(world, "ana", "ben", "third")


async def test_a_user_reports_only_so_often_a_day_through_a_restart_too(autojump_clock, tmp_path):
    async with open_world(settings=LIMITS, database=tmp_path / "yoked.db") as world:
        for number in range(3):
            await report(world, "ana", f"m{number}")
        await world.crash()
        await trio.sleep(3600)
        await world.start()
        for number in range(3, 5):
            await report(world, "ana", f"m{number}")
        with pytest.raises(CallRefused, match="429 rate_limited: you have made 5 reports within"):
            await report(world, "ana", "m5")
        await report(world, "eva", "m5")
        await trio.sleep(23 * 3600)
        await report(world, "ana", "m5")
