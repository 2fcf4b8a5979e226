"""A server that says nothing any more: a node that hangs, or whose machine is gone."""

from __future__ import annotations

from itertools import pairwise

import trio
from trio.testing import memory_stream_pair
from trio_websocket import ConnectionClosed, wrap_server_stream

from tests.scenarios.meeting import WOMAN
from yoked_actor.bots.valve import Valve
from yoked_actor.client import open_client
from yoked_actor.client.dialing import Address, Dial
from yoked_actor.testing import open_world
from yoked_actor.testing.world import URL

OTHER = "http://other.test"


async def dial_the_silent() -> trio.abc.Stream:
    """A stream to somebody who takes the connection and says nothing."""
    ours, theirs = memory_stream_pair()
    silent.append(theirs)
    return ours


silent: list[trio.abc.Stream] = []


async def test_a_client_leaves_a_server_that_does_not_answer_two_heartbeats(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        valve, dialled = Valve(), []

        def dial_to(address: Address) -> Dial:
            dialled.append(address.host)
            return valve.on(world.dial()) if len(dialled) == 1 else world.dial()

        visit = open_client(URL, world.token("ana"), dial_to=dial_to, others=[OTHER])
        async with visit as ana:
            await trio.sleep(60)
            assert ana.welcomes == 1
            valve.shut()
            with trio.fail_after(2 * ana.heartbeat_every_s + 3):
                await ana.heartbeat()  # answered after the next welcome
            # Not to the same one: a process that is stopped still accepts connections.
            assert dialled == ["world.test", "other.test"]
            assert ana.resumed


async def test_a_client_that_sends_no_heartbeats_does_not_expect_answers(autojump_clock):
    async with open_world() as world:
        ana = await world.join("ana", **WOMAN)
        ana.beating = False
        await trio.sleep(50)
        assert ana.welcomes == 1
        await ana.drop(stay_away=True)


async def test_a_node_that_hangs_is_given_up_sooner_when_there_is_another(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)

        def dial_to(address: Address) -> Dial:
            return dial_the_silent if address.host == "other.test" else world.dial()

        began = trio.current_time()
        visit = open_client(OTHER, world.token("ana"), dial_to=dial_to, others=[URL])
        async with visit as ana:
            assert (await ana.spin()).state == "waiting"
            assert trio.current_time() - began < 6


async def test_a_client_waits_longer_and_longer_for_a_welcome(autojump_clock):
    async with open_world() as world, trio.open_nursery() as nursery:
        await world.sign_up("ana", **WOMAN)
        attempts: list[float] = []

        async def turn_away(stream: trio.abc.Stream) -> None:
            async with trio.open_nursery() as serving:
                request = await wrap_server_stream(serving, stream)
                socket = await request.accept(subprotocol="yoked.v1")
                try:
                    await socket.get_message()
                    await socket.aclose(1011, "try again")
                except ConnectionClosed:
                    pass

        async def dial() -> trio.abc.Stream:
            attempts.append(trio.current_time())
            if len(attempts) == 1:
                return await world.dial()()
            ours, theirs = memory_stream_pair()
            nursery.start_soon(turn_away, theirs)
            return ours

        async with open_client(URL, world.token("ana"), dial=dial) as ana:
            await ana.drop()
            await trio.sleep(30)
        pauses = [round(later - earlier, 3) for earlier, later in pairwise(attempts[1:])]
        assert pauses == sorted(pauses)
        assert (pauses[0], pauses[-1]) == (0.4, 5.0)
