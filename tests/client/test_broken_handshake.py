"""A connection that breaks in the middle of the handshake, as when the server is killed then."""

from __future__ import annotations

import pytest
import trio
from trio.testing import memory_stream_pair

from yoked_actor.client import Api, ConnectionLost, open_client
from yoked_actor.testing import open_world
from yoked_actor.testing.world import URL


async def dial_the_dying() -> trio.abc.Stream:
    """A stream to somebody who takes the connection and is no more."""
    ours, theirs = memory_stream_pair()
    await theirs.receive_stream.aclose()
    await theirs.send_stream.aclose()
    return ours


async def dial_the_silent() -> trio.abc.Stream:
    """A stream to somebody who takes the connection and says nothing."""
    ours, theirs = memory_stream_pair()
    silent.append(theirs)
    return ours


silent: list[trio.abc.Stream] = []


@pytest.mark.parametrize("broken", [dial_the_dying, dial_the_silent])
async def test_the_client_tries_again(broken, autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana")
        way_in, dials = world.dial(), 0

        async def dial() -> trio.abc.Stream:
            nonlocal dials
            dials += 1
            return await (broken if 1 < dials < 5 else way_in)()

        async with open_client(URL, world.token("ana"), dial=dial) as ana:
            assert (await ana.spin()).state == "waiting"
            await ana.drop()
            with trio.fail_after(60):
                while ana.welcomes < 2:
                    await ana.heartbeat()
            assert dials == 5


@pytest.mark.parametrize("broken", [dial_the_dying, dial_the_silent])
async def test_a_client_that_was_never_welcomed_gives_up(broken, autojump_clock):
    with trio.fail_after(60), pytest.raises(ConnectionLost, match="cannot connect"):
        async with open_client(URL, "token", dial=broken):
            pass


async def test_an_answer_that_is_cut_off_is_a_connection_error():
    with pytest.raises((ConnectionError, trio.BrokenResourceError)):
        await Api(URL, dial=dial_the_dying).call("GET", "/healthz")
