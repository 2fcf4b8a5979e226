"""A ping of the server that crosses the client's close frame."""

from __future__ import annotations

import trio

from tests.scenarios.meeting import WOMAN
from yoked_actor.client import open_client
from yoked_actor.client.dialing import Dial
from yoked_actor.testing import open_world
from yoked_actor.testing.world import URL

CLOSE_FRAME, EMPTY_PING = 0x88, b"\x89\x00"


class PingWhileClosing(trio.abc.Stream):
    """A stream on which the server's answer to a close frame comes after a ping."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._is_closing = False
        self.pings = 0

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._is_closing = data[0] == CLOSE_FRAME
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        if self._is_closing and data:
            self._is_closing = False
            self.pings += 1
            return EMPTY_PING + data
        return data

    async def aclose(self) -> None:
        await self._stream.aclose()


async def test_a_ping_while_the_client_closes_is_no_error(autojump_clock):
    async with open_world() as world:
        await world.sign_up("ana", **WOMAN)
        opened: list[PingWhileClosing] = []

        def dial() -> Dial:
            async def open_stream() -> trio.abc.Stream:
                opened.append(PingWhileClosing(await world.dial()()))
                return opened[-1]

            return open_stream

        async with open_client(URL, world.token("ana"), dial=dial()) as ana:
            await ana.heartbeat()
        assert opened[0].pings == 1
        async with open_client(URL, world.token("ana"), dial=world.dial()) as ana:
            assert ana.welcomes == 1
