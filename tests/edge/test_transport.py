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
    RawWebSocket,
    dial,
    echo,
    frame,
    open_door,
    upgrade_request,
)
from yoked_actor.edge.net import EdgeLimits, SilentObserver, SocketTransport, StreamTransport
from yoked_actor.edge.ws import WebSocketConnection

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


async def test_what_is_pushed_arrives_in_order_however_full_the_kernel_is(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    frames = [str(number).encode() * 50 for number in range(5000)]
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, EdgeLimits(max_buffered_bytes=10**7))
        for start in range(0, len(frames), 7):
            transport.push(frames[start : start + 7])
        transport.push_eof()
        transport.push([b"after the end"])
        with trio.fail_after(5):
            assert await read_all(theirs) == b"".join(frames)
        transport.abort()


async def test_all_that_waits_is_sent_before_a_full_close(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, EdgeLimits(max_buffered_bytes=10**7))
        transport.push([b"x" * 3_000_000])
        transport.push_eof(close=True)
        assert not transport.dead
        with trio.fail_after(5):
            assert len(await read_all(theirs)) == 3_000_000
        await trio.testing.wait_all_tasks_blocked()
        assert transport.dead


async def test_one_task_flushes_however_many_pushes_wait(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, EdgeLimits(max_buffered_bytes=10**8))
        transport.push([b"idle"])
        assert len(nursery.child_tasks) == 0
        for _ in range(100):
            transport.push([b"x" * 100_000])
        assert len(nursery.child_tasks) == 1
        transport.abort()


async def test_an_overflow_is_reported_and_without_a_listener_fatal(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, SMALL)
        recorder = Recorder()
        transport.listener = recorder
        transport.push([b"x" * 8_000_000])
        assert recorder.reports == 1
        assert not transport.dead
        transport.listener = None
        transport.push([b"more"])
        assert transport.dead


async def test_the_last_frame_follows_the_begun_one_and_nothing_else(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, EdgeLimits(max_buffered_bytes=10**8))
        begun = b"b" * 200_000
        transport.push([begun, b"never", b"never"])
        transport.push([b"never"])
        transport.finish_with(b"LAST")
        transport.push([b"never"])
        with trio.fail_after(5):
            assert await read_all(theirs) == begun + b"LAST"
        transport.abort()


async def test_aborting_ends_the_reader_and_the_flusher(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, _ = pair
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, EdgeLimits(max_buffered_bytes=10**8))
        transport.push([b"x" * 8_000_000])
        received: list[bytes] = []

        async def read() -> None:
            received.append(await transport.receive())

        nursery.start_soon(read)
        await trio.testing.wait_all_tasks_blocked()
        transport.abort()
        transport.abort()
    assert received == [b""]
    assert await transport.receive() == b""


async def test_a_reset_by_the_peer_is_an_end_like_any_other(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    async with trio.open_nursery() as nursery:
        transport = SocketTransport(ours, nursery, SMALL)
        theirs.close()
        with trio.fail_after(5):
            assert await transport.receive() == b""
        transport.push([b"into the void"])
        transport.push([b"into the void"])
        assert transport.dead


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

    async def flood(connection: WebSocketConnection) -> None:
        await trio.sleep(0.1)
        for _ in range(100):
            connection.send(b"f" * 100)
            connection.flush()
        await echo(connection)

    async with (
        open_door(flood, limits, observer=observer) as door,
        trio.open_nursery() as nursery,
    ):
        ours, theirs = trio.testing.lockstep_stream_pair()
        nursery.start_soon(door.serve_stream, theirs, LOCAL)
        client = RawWebSocket(ours)
        assert b" 101 " in await client.shake_hands()
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

    async def flood_or_echo(connection: WebSocketConnection) -> None:
        async def on_message(text: bytes) -> None:
            if text != b"flood":
                connection.send(text)
            else:
                for _ in range(500):
                    connection.send(b"f" * 1000)
            connection.flush()

        await connection.run(on_message)
        if connection.close_code == 4008:
            over.set()

    async with (
        open_door(flood_or_echo, limits, observer=observer, listeners=[listener]) as door,
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

    async def flood(connection: WebSocketConnection) -> None:
        for _ in range(500):
            connection.send(b"f" * 1000)
            connection.flush()
        await echo(connection)

    async with (
        open_door(flood, limits, observer=observer, listeners=[listener]),
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

    async def one_word(connection: WebSocketConnection) -> None:
        await trio.sleep(0.1)
        connection.send(b"anybody?")
        connection.flush()
        await echo(connection)

    async with (
        open_door(one_word, observer=observer) as door,
        trio.open_nursery() as nursery,
    ):
        ours, theirs = trio.testing.lockstep_stream_pair()
        nursery.start_soon(door.serve_stream, theirs, LOCAL)
        client = RawWebSocket(ours)
        assert b" 101 " in await client.shake_hands()
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
