"""A user waits in vain, and idle users who suit are nudged."""

from __future__ import annotations

import trio

from tests.scenarios.meeting import MAN, WOMAN, news, told
from yoked_actor.testing import open_world


async def test_an_idle_user_is_nudged_and_finds_who_waits(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        ben = await world.join("ben", **MAN)
        eva = await world.join("eva", **WOMAN)
        await ana.spin()
        nudge = await ben.wait_for("nudge")
        assert trio.current_time() == 10
        assert nudge.fields == {
            "type": "nudge",
            "seq": 1,
            "at": "2026-01-01T08:00:10Z",
            "expires_at": "2026-01-01T08:01:10Z",
        }
        await trio.sleep(30)
        assert (await ben.spin()).state == "matched"
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"
        assert told(await news(eva)) == []


async def test_nobody_is_nudged_for_one_they_blocked_or_met(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        met = await world.join("met", **MAN)
        blocked = await world.join("blocked", **MAN)
        blocker = await world.join("blocker", **MAN)
        await ana.block("blocked")
        await blocker.block("ana")
        await ana.spin()
        spun = await met.spin()
        for client in (ana, met):
            await client.acknowledge(spun.match_id)
        await met.leave()
        await trio.sleep(60)
        for client in (met, blocked, blocker):
            assert "nudge" not in [event.type for event in await news(client)]


async def test_a_nudge_comes_once_in_ten_minutes(autojump_clock):
    async with open_world() as world:
        ben = await world.join("ben", **MAN)
        times = []
        for number in range(8):
            lonely = await world.join(f"lonely{number}", **WOMAN)
            await lonely.spin()
            await trio.sleep(100)
            times += [event.at[14:19] for event in await news(ben)]
        assert times == ["00:10", "10:10"]
