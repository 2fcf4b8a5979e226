"""A valve on a stream: while it is shut, the client does not read from its socket."""

from __future__ import annotations

import trio

from yoked_actor.client import Dial


class Valve:
    """Open or shut, for all streams of one bot."""

    def __init__(self) -> None:
        self._opened = trio.Event()
        self._opened.set()

    def shut(self) -> None:
        """Stop reading."""
        self._opened = trio.Event()

    def open(self) -> None:
        """Continue reading."""
        self._opened.set()

    async def wait_open(self) -> None:
        """Wait until reading is allowed."""
        await self._opened.wait()

    def on(self, dial: Dial) -> Dial:
        """A `Dial` whose streams have this valve."""

        async def open_stream() -> trio.abc.Stream:
            return _ValvedStream(await dial(), self)

        return open_stream


class _ValvedStream(trio.abc.Stream):
    def __init__(self, stream: trio.abc.Stream, valve: Valve) -> None:
        self._stream = stream
        self._valve = valve

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        # One chunk may be read while the valve is shut, and no more.
        if data:
            await self._valve.wait_open()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()
