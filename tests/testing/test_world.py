"""The test kit itself."""

from __future__ import annotations

import pytest
import trio

from tests.scenarios.meeting import MAN, WOMAN, join_pair, match
from yoked_actor.client import Api, CallRefused, CommandRefused
from yoked_actor.domain.time import to_datetime
from yoked_actor.settings import SettingsError
from yoked_actor.testing import make_profile, open_world, run


async def test_without_a_mock_clock_a_world_says_what_it_needs():
    with pytest.raises(RuntimeError, match=r"mock clock.*autojump_clock"):
        async with open_world():
            pass


def test_a_world_can_be_run_without_pytest():
    async def evening():
        async with open_world() as world:
            ana, ben = await join_pair(world)
            await match(ana, ben)
            await trio.sleep(3600)
            return to_datetime(world.now()).isoformat()

    assert run(evening, seed=3) == "2026-01-01T09:00:00+00:00"


async def test_a_world_starts_when_it_is_told_to(autojump_clock):
    async with open_world(start="2030-06-01T12:00:00+02:00") as world:
        assert to_datetime(world.now()).isoformat() == "2030-06-01T10:00:00+00:00"


async def test_settings_are_those_of_the_configuration_and_mistakes_are_named(autojump_clock):
    async with open_world(settings={"matching": {"acknowledge_window_s": 1.0}}) as world:
        ana, ben = await join_pair(world)
        await match(ana, ben)
        await trio.sleep(1)
        assert (await ana.wait_for("match_cancelled")).reason == "not_acknowledged"
    with pytest.raises(SettingsError, match=r"matching\.liveness"):
        async with open_world(settings={"matching": {"liveness": 1}}):
            pass


async def test_a_server_that_is_down_refuses_and_can_be_started_again(autojump_clock):
    async with open_world() as world:
        await world.crash()
        with pytest.raises(RuntimeError, match="not running"):
            _ = world.server
        with pytest.raises(ConnectionRefusedError):
            await Api("http://world.test", dial=world.dial()).request("GET", "/healthz")
        await world.start()
        answer = await Api("http://world.test", dial=world.dial()).request("GET", "/healthz")
        assert answer.status == 200


async def test_a_crash_keeps_a_file_and_loses_what_was_in_memory(autojump_clock, tmp_path):
    for database, kept in ((tmp_path / "yoked.db", True), (None, False)):
        async with open_world(database=database) as world:
            ana = await world.sign_up("ana")
            for _ in range(3):
                await world.crash()
                await world.start()
            if kept:
                assert (await ana.call("GET", "/api/profile"))["display_name"] == "Ana"
            else:
                with pytest.raises(CallRefused):
                    await ana.call("GET", "/api/profile")


async def test_a_world_can_be_opened_again_on_the_same_file(autojump_clock, tmp_path):
    for _ in range(2):
        async with open_world(database=tmp_path / "yoked.db") as world:
            await world.join("ana")


async def test_people_can_join_from_any_task(autojump_clock):
    async with open_world() as world:
        joined = []

        async def join(n):
            joined.append(await world.join(f"p{n}", **(WOMAN if n % 2 else MAN)))

        async with trio.open_nursery() as nursery:
            for n in range(6):
                nursery.start_soon(join, n)
        for client in joined:
            await client.spin()
        for client in joined:
            await client.wait_for("matched")


async def test_what_fails_in_a_world_fails_as_itself(autojump_clock):
    with pytest.raises(CommandRefused, match="wrong_state"):
        async with open_world() as world:
            await (await world.join("ana")).leave()


async def test_a_profile_has_a_harmless_default_for_every_part(autojump_clock):
    async with open_world() as world:
        ana = world.api("ana")
        assert await ana.call("PUT", "/api/profile", make_profile()) == make_profile()


async def test_the_auditor_of_a_world_sees_two_who_wait_and_could_meet(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        await world.api("ana").call("POST", "/api/blocks", {"user_id": "ben"})
        await ana.spin()
        await ben.spin()
        assert world.audit() == []
        world.server.live.lobby.floor.acquaintance.blocks.rows.clear()
        assert world.audit() == ["ana and ben: both wait, and could meet"]
        await ana.leave()
