"""An operator's socket: who may watch, what they are told, and that it costs nothing unwatched."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from trio.testing import lockstep_stream_pair

from tests.edge.raw_client import RawWebSocket
from tests.scenarios.meeting import WOMAN, join_pair, match, open_voting
from tests.scenarios.talker import Talker
from yoked_actor.testing import World, open_world


async def watch(world: World, name: str = "root") -> Talker:
    """A socket of an operator, who has been let in."""
    talker = await Talker.dial(world)
    await talker.say({"type": "watch", "id": "w", "token": world.token(name, admin=True)})
    reply = await talker.hear()
    assert (reply["type"], reply["re"]) == ("ok", "w")
    return talker


async def next_status(talker: Talker) -> dict[str, Any]:
    message = await talker.hear()
    assert message["type"] == "status"
    return message


async def test_only_an_operator_may_watch(autojump_clock):
    async with open_world() as world:
        talker = await Talker.dial(world)
        await talker.say({"type": "watch", "id": "w", "token": world.token("ana")})
        refusal = await talker.hear()
        assert (refusal["type"], refusal["re"], refusal["code"]) == ("error", "w", "forbidden")
        assert (await talker.hung_up()).code == 4003


@pytest.mark.parametrize("fields", [{}, {"token": "nonsense"}, {"token": 7}])
async def test_an_operator_who_watches_needs_a_token(autojump_clock, fields):
    async with open_world() as world:
        talker = await Talker.dial(world)
        await talker.say({"type": "watch", "id": "w"} | fields)
        assert (await talker.hung_up()).code == 4003


async def test_watching_is_not_for_a_socket_that_has_said_hello(autojump_clock):
    async with open_world() as world:
        talker = await Talker.dial(world)
        token = world.token("root", admin=True)
        await talker.hello(token)
        assert (await talker.ask("watch", token=token))["code"] == "wrong_state"


async def test_an_operator_gets_the_status_at_once_and_then_every_two_seconds(autojump_clock):
    async with open_world() as world:
        talker, start = await watch(world), trio.current_time()
        heard = []
        for _ in range(4):
            status = await next_status(talker)
            heard.append((status["seq"], trio.current_time() - start))
    assert heard == [(1, 0), (2, 2), (3, 4), (4, 6)]


async def test_the_longest_waiting_are_shown_with_why(autojump_clock):
    async with open_world(settings={"console": {"longest_shown": 2}}) as world:
        for name, profile in (("ana", WOMAN), ("eva", WOMAN), ("mia", WOMAN)):
            await (await world.join(name, **profile)).spin()
            await trio.sleep(1)
        status = await next_status(await watch(world))
    assert status["waiting"] == 3
    first, second = status["longest"]
    assert (first["user_id"], first["waiting_s"], first["tier"]) == ("ana", 3.0, 2)
    assert (second["user_id"], second["waiting_s"]) == ("eva", 2.0)
    assert (first["pool"], first["rejected_by"]["seeking"], first["nearest"]) == (2, 2, None)


async def test_matches_are_counted_by_minute_tier_and_outcome_also_before_anybody_watched(
    autojump_clock,
):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        match_id = await match(ana, ben)
        for client in (ana, ben):
            await client.acknowledge(match_id)
        for client in (ana, ben):
            await client.vote(match_id, "pass")
        await trio.sleep(61)
        status = await next_status(await watch(world))
        assert (status["minutes"][0]["matches"], status["minutes"][-1]["matches"]) == (1, 0)
        assert status["minutes"][0]["at"] == "2026-01-01T08:00:00Z"
        assert status["hour"]["matches"] == 1
        assert status["hour"]["tiers"] == {"1": 1}
        assert status["hour"]["outcomes"] == {"pass_pass": 1}
        assert (status["connections"], status["sessions"]) == (3, 2)
        await trio.sleep(3600)
        later = await next_status(await watch(world))
        assert later["hour"]["matches"] == 0


async def test_an_operator_who_watches_is_nobody_in_the_lobby(autojump_clock):
    async with open_world() as world:
        talker = await watch(world, "root")
        await next_status(talker)
        assert "root" not in world.server.live.lobby.floor.seats.rows
        assert len(world.server.live.sessions) == 0
        # Nor does a second console of theirs take the place of the first.
        await next_status(await watch(world, "root"))
        assert (await next_status(talker))["seq"] == 2


async def test_nobody_looks_when_nobody_watches(autojump_clock):
    async with open_world() as world:
        talker = await watch(world)
        await next_status(talker)
        await talker.vanish()
        await trio.sleep(10)
        woken: list[str] = []

        class Wakes(trio.abc.Instrument):
            def task_scheduled(self, task: trio.lowlevel.Task) -> None:
                woken.append(task.name)

        instrument = Wakes()
        trio.lowlevel.add_instrument(instrument)
        await trio.sleep(600)
        trio.lowlevel.remove_instrument(instrument)
        assert [name for name in woken if "StatusBoard" in name] == []


async def test_a_watcher_can_beat_and_do_nothing_else(autojump_clock):
    async with open_world() as world:
        talker = await watch(world)
        await next_status(talker)
        assert (await talker.ask("heartbeat"))["at"] == "2026-01-01T08:00:00Z"
        assert (await talker.ask("spin"))["code"] == "wrong_state"
        assert (await talker.ask("nonsense"))["code"] == "bad_request"
        await talker.write(b"[]")
        assert (await talker.hung_up()).code == 4000


async def test_only_so_many_may_watch_and_who_goes_makes_room(autojump_clock):
    async with open_world(settings={"console": {"max_watchers": 1}}) as world:
        first = await watch(world)
        second = await Talker.dial(world)
        await second.say({"type": "watch", "id": "w", "token": world.token("eva", admin=True)})
        assert (await second.hung_up()).code == 4009
        await first.hang_up()
        await trio.sleep(1)
        await next_status(await watch(world))


async def test_a_watcher_who_does_not_read_is_cut_off_as_everybody_is(autojump_clock):
    async with open_world(settings={"edge": {"ping_interval_s": 86_400}}) as world:
        # Nothing is taken from the server's side of such a stream before it is read on the other.
        ours, theirs = lockstep_stream_pair()
        async with trio.open_nursery() as nursery:
            serve = world.server.edge.front_door.serve_stream
            nursery.start_soon(serve, theirs, ("127.0.0.1", 9))
            talker = Talker(RawWebSocket(ours))
            await talker.raw.shake_hands()
            token = world.token("root", admin=True)
            await talker.say({"type": "watch", "id": "w", "token": token})
            assert (await talker.hear())["type"] == "ok"
            # The nursery ends when the server has given up on it.
        assert b"yoked_slow_readers_total 1.0" in world.server.base.metrics.expose()
        assert trio.current_time() < 600


async def test_an_operator_sees_a_drain_to_its_end(autojump_clock):
    async with open_world() as world:
        ana, ben = await join_pair(world)
        talker = await watch(world)
        assert (await next_status(talker))["draining"] is False
        match_id = await open_voting(ana, ben)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(world.stop)
            # Votes are waited for, and whoever watches goes on watching.
            assert (await next_status(talker))["draining"] is True
            assert (await next_status(talker))["draining"] is True
            for client in (ana, ben):
                await client.vote(match_id, "yes")
            while (message := await talker.hear())["type"] == "status":
                pass
            assert (message["type"], message["reconnect_after_s"]) == ("draining", 2.0)
            assert (await talker.hung_up()).code == 4010
            await talker.vanish()


async def test_what_was_reloaded_holds_for_those_who_watch(autojump_clock):
    async with open_world() as world:
        talker = await watch(world)
        await next_status(talker)
        world.server.base.settings.console.renew({"status_every_s": 30.0})
        await next_status(talker)
        start = trio.current_time()
        await next_status(talker)
        assert trio.current_time() - start == 30
