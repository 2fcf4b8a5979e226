"""Heartbeats: they keep a user in line, and cost no round of the matchmaker."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from tests.edge.raw_client import PING, frame
from tests.scenarios.meeting import MAN, WOMAN
from tests.scenarios.talker import Talker
from yoked_actor.telemetry import count_of
from yoked_actor.testing import World, open_world

TIERS_ARE_OVER_S = 70
LIVENESS_S = 10


async def in_line(world: World, user_id: str) -> Talker:
    """A user who waits, and whose limits widen no more."""
    await world.sign_up(user_id, **WOMAN)
    talker, _ = await Talker.greet(world, user_id)
    assert (await talker.ask("spin"))["state"] == "waiting"
    await beat(talker, TIERS_ARE_OVER_S)
    return talker


async def beat(talker: Talker, seconds: float, *, by_ping: bool = False) -> None:
    until_s = trio.current_time() + seconds
    while trio.current_time() < until_s:
        if by_ping:
            await talker.raw.stream.send_all(frame(PING))
        else:
            await talker.say({"type": "heartbeat", "id": f"b{trio.current_time()}"})
        await trio.sleep(3)


def rounds(world: World) -> int:
    return count_of(world.server.base.metrics.lobby.rounds.labels("main"))


@pytest.mark.parametrize("by_ping", [False, True], ids=["heartbeat", "ping"])
async def test_a_sign_of_life_keeps_its_user_in_line_without_a_round(
    autojump_clock: MockClock, by_ping: bool
) -> None:
    async with open_world() as world:
        talker = await in_line(world, "ana")
        before = rounds(world)
        await beat(talker, 300, by_ping=by_ping)
        assert rounds(world) == before
        ben = await world.join("ben", **MAN)
        assert (await ben.spin()).state == "matched"
        assert world.audit() == []


async def test_a_user_is_lost_when_the_time_since_the_last_sign_of_life_is_over(
    autojump_clock: MockClock,
) -> None:
    async with open_world() as world:
        talker = await in_line(world, "ana")
        await beat(talker, 60)
        last_s = trio.current_time() - 3
        while (event := await talker.hear())["type"] != "idle":
            pass
        assert event["reason"] == "lost"
        assert trio.current_time() == pytest.approx(last_s + LIVENESS_S)
        assert count_of(world.server.base.metrics.lobby.liveness_losses.labels("main")) == 1
        assert world.audit() == []


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
async def test_a_sign_of_life_before_a_step_of_the_clock_counts_after_it(
    autojump_clock: MockClock, step_s: float
) -> None:
    async with open_world() as world:
        talker = await in_line(world, "ana")
        await beat(talker, 30)
        last_s = trio.current_time() - 3
        world.step_clock(step_s)
        while (event := await talker.hear())["type"] != "idle":
            pass
        assert event["reason"] == "lost"
        assert trio.current_time() == pytest.approx(last_s + LIVENESS_S)


async def test_after_a_crash_signs_of_life_count_from_the_return(
    autojump_clock: MockClock, tmp_path: Path
) -> None:
    async with open_world(database=tmp_path / "yoked.db") as world:
        talker = await in_line(world, "ana")
        await beat(talker, 30)
        await talker.vanish()
        await world.crash()
        await world.start()
        back, welcome = await Talker.greet(world, "ana")
        assert welcome["snapshot"]["state"] == "waiting"
        await beat(back, 60)
        assert rounds(world) < 20
        last_s = trio.current_time() - 3
        while (event := await back.hear())["type"] != "idle":
            pass
        assert event["reason"] == "lost"
        assert trio.current_time() == pytest.approx(last_s + LIVENESS_S)
        assert world.audit() == []
