"""The transports: bounded writing, and what becomes of a reader that does not read."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from tests.edge.raw_client import (
    CLOSE,
    LOCAL,
    TEXT,
    Echo,
    RawWebSocket,
    dial,
    frame,
    open_door,
    upgrade_request,
)
from yoked_actor.edge.net import EdgeLimits, SilentObserver, StreamTransport
from yoked_actor.edge.ws import Awaited, WebSocketConnection

SMALL = EdgeLimits(
    send_buffer_bytes=8 * 1024, max_buffered_bytes=64 * 1024, stall_timeout_s=0.2, last_words_s=0.2
)


class SlowReaders(SilentObserver):
    """Counts the slow readers."""

    def __init__(self) -> None:
        self.count = 0
        self.seen = trio.Event()

    def slow_reader(self) -> None:
        self.count += 1
        self.seen.set()


class Recorder:
    """A listener that only takes note."""

    def __init__(self) -> None:
        self.reports = 0

    def on_slow_reader(self) -> None:
        self.reports += 1


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a loopback connection with small buffers, both non-blocking."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * 1024)
        theirs = socket.socket()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        theirs.connect(listener.getsockname())
        ours, _ = listener.accept()
    for sock in (ours, theirs):
        sock.setblocking(False)
    return ours, theirs


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = tcp_pair()
    yield ours, theirs
    ours.close()
    theirs.close()


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock


@asynccontextmanager
async def reluctant_client(listener: socket.socket) -> AsyncIterator[trio.SocketStream]:
    """A connection whose own buffer is small, so that not reading shows."""
    sock = trio.socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    await sock.connect(listener.getsockname())
    async with trio.SocketStream(sock) as stream:
        await stream.send_all(upgrade_request())
        yield stream


async def read_all(sock: socket.socket) -> bytes:
    data = b""
    while True:
        await trio.lowlevel.wait_readable(sock)
        more = sock.recv(65536)
        if not more:
            return data
        data += more


async def test_a_stream_transport_keeps_one_flusher_and_the_order() -> None:
    ours, theirs = trio.testing.memory_stream_pair()
    async with trio.open_nursery() as nursery:
        transport = StreamTransport(ours, nursery, SMALL)
        assert len(nursery.child_tasks) == 0
        for number in range(100):
            transport.push([b"%d," % number])
            if number % 10 == 0:
                await trio.testing.wait_all_tasks_blocked()
        assert len(nursery.child_tasks) == 1
        transport.push_eof()
        received = b"".join([chunk async for chunk in theirs])
        assert received == b"".join(b"%d," % number for number in range(100))
        transport.abort()


async def test_a_stream_that_takes_nothing_is_reported_after_the_stall(
    autojump_clock: trio.testing.MockClock,
) -> None:
    ours, _theirs = trio.testing.lockstep_stream_pair()
    async with trio.open_nursery() as nursery:
        transport = StreamTransport(ours, nursery, EdgeLimits())
        recorder = Recorder()
        transport.listener = recorder
        transport.push([b"anybody?"])
    assert trio.current_time() == pytest.approx(EdgeLimits().stall_timeout_s)
    assert transport.dead
    assert recorder.reports == 1


async def test_a_slow_reader_on_a_stream_that_wakes_up_in_time_reads_4008(
    autojump_clock: trio.testing.MockClock,
) -> None:
    limits = EdgeLimits(max_buffered_bytes=1000)
    observer = SlowReaders()

    class Flooding(Echo):
        def receive(self, text: bytes, now_s: float) -> Awaited:
            return self.flood()

        async def flood(self) -> None:
            await trio.sleep(0.1)
            for _ in range(100):
                self.connection.send(b"f" * 100)
                self.connection.flush()

    async with (
        open_door(Flooding, limits, observer=observer) as door,
        trio.open_nursery() as nursery,
    ):
        ours, theirs = trio.testing.lockstep_stream_pair()
        nursery.start_soon(door.serve_stream, theirs, LOCAL)
        client = RawWebSocket(ours)
        assert b" 101 " in await client.shake_hands()
        await ours.send_all(frame(TEXT, b"flood"))
        await observer.seen.wait()
        await trio.sleep(0.5)
        assert await client.receive() == (CLOSE, struct.pack("!H", 4008) + b"slow reader")
        await ours.aclose()
    assert observer.count == 1


@pytest.mark.parametrize("buffered", [64 * 1024, 10**9], ids=["overflow", "stall"])
async def test_a_slow_reader_is_hung_up_on_with_4008_while_others_go_on(
    listener: socket.socket, buffered: int
) -> None:
    observer = SlowReaders()
    over = trio.Event()
    limits = EdgeLimits(
        send_buffer_bytes=8 * 1024,
        max_buffered_bytes=buffered,
        stall_timeout_s=0.2,
        last_words_s=0.2,
    )

    class FloodOrEcho(Echo):
        def receive(self, text: bytes, now_s: float) -> None:
            if text != b"flood":
                self.connection.send(text)
            else:
                for _ in range(500):
                    self.connection.send(b"f" * 1000)
            self.connection.flush()

        def end(self) -> None:
            if self.connection.close_code == 4008:
                over.set()

    async with (
        open_door(FloodOrEcho, limits, observer=observer, listeners=[listener]) as door,
        reluctant_client(listener) as slow,
        trio.open_nursery() as nursery,
    ):
        other = RawWebSocket(dial(door, nursery))
        await other.shake_hands()
        reader = RawWebSocket(slow)
        await reader.read_head()
        await slow.send_all(frame(TEXT, b"flood"))
        with trio.fail_after(5):
            while not over.is_set():
                await other.stream.send_all(frame(TEXT, b"unharmed"))
                assert await other.receive() == (TEXT, b"unharmed")
                await trio.sleep(0.01)
            # The server has closed its socket by now; what it said last is still to be had.
            assert await reader.receive_close() == (4008, b"slow reader")
        await other.stream.aclose()
    assert observer.count == 1


async def test_a_slow_reader_that_still_sends_and_reads_late_sees_4008(
    listener: socket.socket,
) -> None:
    """What it sends must not make the kernel reset the connection before the reason is read."""
    observer = SlowReaders()
    limits = EdgeLimits(
        send_buffer_bytes=8 * 1024,
        max_buffered_bytes=64 * 1024,
        stall_timeout_s=5,
        last_words_s=0.1,
    )

    class Flooding(Echo):
        def __init__(self, connection: WebSocketConnection) -> None:
            super().__init__(connection)
            for _ in range(500):
                connection.send(b"f" * 1000)
                connection.flush()

    async with (
        open_door(Flooding, limits, observer=observer, listeners=[listener]),
        reluctant_client(listener) as slow,
    ):
        reader = RawWebSocket(slow)
        await reader.read_head()
        with trio.fail_after(4):
            await observer.seen.wait()
            for _ in range(30):
                await slow.send_all(frame(TEXT, b"anybody?"))
                await trio.sleep(0.02)
            assert await reader.receive_close() == (4008, b"slow reader")
    assert observer.count == 1


async def test_a_stream_on_which_nothing_was_begun_can_still_say_4008_after_a_stall(
    autojump_clock: trio.testing.MockClock,
) -> None:
    observer = SlowReaders()

    class OneWord(Echo):
        def receive(self, text: bytes, now_s: float) -> Awaited:
            return self.ask()

        async def ask(self) -> None:
            await trio.sleep(0.1)
            self.connection.send(b"anybody?")
            self.connection.flush()

    async with (
        open_door(OneWord, observer=observer) as door,
        trio.open_nursery() as nursery,
    ):
        ours, theirs = trio.testing.lockstep_stream_pair()
        nursery.start_soon(door.serve_stream, theirs, LOCAL)
        client = RawWebSocket(ours)
        assert b" 101 " in await client.shake_hands()
        await ours.send_all(frame(TEXT, b"ask"))
        await trio.sleep(EdgeLimits().stall_timeout_s + 2)
        assert observer.count == 1
        assert await client.receive() == (CLOSE, struct.pack("!H", 4008) + b"slow reader")
        await ours.aclose()


async def test_pings_of_one_who_does_not_read_end_as_a_slow_reader_too(
    listener: socket.socket,
) -> None:
    observer = SlowReaders()
    async with (
        open_door(limits=SMALL, observer=observer, listeners=[listener]),
        reluctant_client(listener) as slow,
    ):
        with trio.fail_after(10):
            try:
                while not observer.seen.is_set():
                    await slow.send_all(frame(0x9, b"p" * 125) * 100)
            except trio.BrokenResourceError:
                await observer.seen.wait()
    assert observer.count == 1
