"""Scenario 7: users who have met are not paired again, also after a crash."""

from __future__ import annotations

import trio

from tests.scenarios.meeting import MAN, join_pair, match, news, open_voting, settle, told
from yoked_actor.testing import open_world


async def test_two_users_who_have_met_are_never_paired_again(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("pass", "pass"))
        await trio.sleep(3600)
        for client in (ana, ben):
            assert told(await news(client)) == [("waiting", "requeued"), ("tier", 2), ("tier", 99)]
        assert world.audit() == []
        # It is this pair that is barred, not the people.
        carl = await world.join("carl", **MAN)
        await carl.spin()
        assert (await ana.wait_for("matched")).partner["user_id"] == "carl"


async def test_two_users_have_met_when_voting_opened(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await open_voting(ana, ben)
        await ben.leave()
        await ana.wait_for("waiting")
        await ben.spin()
        await trio.sleep(120)
        assert told(await news(ana)) == [("tier", 2), ("tier", 99)]


async def test_a_match_cancelled_before_voting_bars_the_pair_for_a_minute_only(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await trio.sleep(1)
        await ben.leave()
        assert (await ben.spin()).state == "waiting"
        await trio.sleep(59.9)
        assert told(await news(ana)) == [
            ("match_cancelled", "partner_left", "waiting"),
            ("waiting", "partner_left"),
            ("tier", 2),
            ("tier", 99),
        ]
        await trio.sleep(0.1)
        assert told(await news(ana)) == [("matched",)]
        assert (await ben.wait_for("matched")).partner["user_id"] == "ana"


async def test_after_the_days_of_the_setting_two_may_meet_again(autojump_clock):
    async with open_world(settings={"matching": {"rematch_after_days": 1}}) as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("pass", "pass"))
        for client in (ana, ben):
            await client.leave()
            await client.close()
        await trio.sleep(86_400)
        ana, ben = await world.connect("ana"), await world.connect("ben")
        await match(ana, ben)


async def test_history_survives_a_crash(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("pass", "pass"))
        for client in (ana, ben):
            await client.leave()
            await client.close()
        await world.crash()
        await world.start()
        ana, ben = await world.connect("ana"), await world.connect("ben")
        assert ana.snapshot["last_outcome"] == "pass_pass"
        await ana.spin()
        assert (await ben.spin()).state == "waiting"
        await trio.sleep(60)
        assert told(await news(ana)) == [("waiting", "spun"), ("tier", 2), ("tier", 99)]


async def test_history_survives_being_forgotten_by_memory(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await settle(ana, ben, ("pass", "pass"))
        for client in (ana, ben):
            await client.leave()
            await client.close()
        await trio.sleep(300)
        assert len(world.server.live.sessions) == 0
        ana, ben = await world.connect("ana"), await world.connect("ben")
        await ana.spin()
        assert (await ben.spin()).state == "waiting"


async def test_the_bar_of_a_minute_survives_a_crash(autojump_clock, tmp_path):
    async with open_world(database=tmp_path / "yoked.db") as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await ben.leave()
        await ana.leave()
        await trio.sleep(10)
        await world.crash()
        await world.start()
        await ana.wait_connected()
        await ben.wait_connected()
        await ana.spin()
        assert (await ben.spin()).state == "waiting"
        await ana.wait_for("matched")
        assert world.now() == world.server.live.lobby.floor.matches.rows["m2"].paired_at
        assert trio.current_time() == 60
