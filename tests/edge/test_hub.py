"""The hub: what a socket that misbehaves, stalls or breaks does to itself and to the others."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.builds import sources_only
from tests.edge.listening import PlainClient, listening_server
from tests.edge.raw_client import LOCAL, PONG, TEXT, Echo, RawWebSocket, frame, open_door, tcp_pair
from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.net import EdgeLimits
from yoked_actor.edge.ws import Awaited, WebSocketConnection
from yoked_actor.edge.ws import hub as hub_module
from yoked_actor.edge.ws.hub_connection import HubConnection

ROOMY = EdgeLimits(send_buffer_bytes=8 * 1024, max_buffered_bytes=10**8)


@asynccontextmanager
async def hub_door(
    limits: EdgeLimits = ROOMY, handler: type[Echo] = Echo
) -> AsyncIterator[tuple[FrontDoor, list[WebSocketConnection]]]:
    connections: list[WebSocketConnection] = []

    def begin(connection: WebSocketConnection) -> Echo:
        connections.append(connection)
        return handler(connection)

    async with open_door(begin, limits) as door:
        yield door, connections


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The server's and the client's end of a loopback connection with small buffers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 8 * 1024)
        theirs = socket.socket()
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        theirs.connect(listener.getsockname())
        ours, _ = listener.accept()
    ours.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


async def shake_hands(door: FrontDoor, pair: tuple[socket.socket, socket.socket]) -> RawWebSocket:
    ours, theirs = pair
    door.admit(ours, LOCAL)
    client = RawWebSocket(trio.SocketStream(trio.socket.from_stdlib_socket(theirs)))
    assert b" 101 " in await client.shake_hands()
    return client


async def gone(door: FrontDoor) -> None:
    with trio.fail_after(5):
        while door.open_connections:
            await wait_all_tasks_blocked(0.005)


async def test_what_is_sent_arrives_in_order_however_full_the_kernel_is(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    texts = [str(number).encode() * 50 for number in range(5000)]
    async with hub_door() as (door, connections):
        client = await shake_hands(door, pair)
        for start in range(0, len(texts), 7):
            for text in texts[start : start + 7]:
                connections[0].send(text)
            connections[0].flush()
        connections[0].close(4000, "that is all")
        connections[0].send(b"after the end")
        with trio.fail_after(10):
            for text in texts:
                assert await client.receive() == (TEXT, text)
            assert await client.receive_close() == (4000, b"that is all")
        await client.stream.aclose()
        await gone(door)


@sources_only
async def test_frames_of_one_turn_are_sent_together(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write is a system call, and a packet."""
    writes: list[int] = []
    push = HubConnection._push

    def counted(self: HubConnection, frames: list[bytes]) -> None:
        writes.append(len(frames))
        push(self, frames)

    monkeypatch.setattr(HubConnection, "_push", counted)
    async with hub_door() as (door, _):
        client = await shake_hands(door, pair)
        await client.stream.send_all(frame(TEXT, b"one") + frame(0x9, b"?") + frame(TEXT, b"two"))
        assert await client.receive() == (TEXT, b"one")
        assert await client.receive() == (PONG, b"?")
        assert await client.receive() == (TEXT, b"two")
        await client.stream.aclose()
    assert writes == [3]


async def test_a_reset_by_the_peer_ends_only_its_connection(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    async with hub_door() as (door, connections):
        client = await shake_hands(door, pair)
        pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await client.stream.aclose()
        await gone(door)
        connections[0].send(b"into the void")
        connections[0].flush()
        assert connections[0].close_code == 1006


@pytest.mark.parametrize("stalled", [False, True], ids=["idle", "with unsent frames"])
async def test_a_hang_up_while_a_message_is_awaited_does_not_keep_the_hub_busy(
    pair: tuple[socket.socket, socket.socket], stalled: bool
) -> None:
    go_on = trio.Event()

    class Dawdling(Echo):
        def receive(self, text: bytes, now_s: float) -> Awaited:
            if stalled:
                self.connection.send(b"x" * 5_000_000)
            return self.wait()

        async def wait(self) -> None:
            await go_on.wait()

    async with hub_door(handler=Dawdling) as (door, _):
        client = await shake_hands(door, pair)
        await client.stream.send_all(frame(TEXT, b"a question"))
        await wait_all_tasks_blocked(0.01)
        pair[1].setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await client.stream.aclose()
        # With a task that is always ready this would never return.
        with trio.fail_after(5):
            await wait_all_tasks_blocked(0.05)
        go_on.set()
        await gone(door)


async def test_connections_that_break_while_all_are_looked_at(autojump_clock: MockClock) -> None:
    """The keepalive aborts several in one loop, and each of them is forgotten meanwhile."""
    ended: list[int | None] = []

    class Watched(Echo):
        def end(self) -> None:
            ended.append(self.connection.close_code)

    async with hub_door(EdgeLimits(), Watched) as (door, _):
        clients = []
        for _ in range(5):
            clients.append(await shake_hands(door, tcp_pair()[::-1]))
        await trio.sleep(60)
        assert door.open_connections == 0
        assert ended == [1006] * 5
        assert not door.websockets
        for client in clients:
            await client.stream.aclose()


async def test_a_turn_is_bounded_and_what_it_leaves_comes_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hub_module, "_EVENTS_PER_TURN", 3)
    monkeypatch.setattr(hub_module, "_BYTES_PER_TURN", 1)
    async with hub_door() as (door, _):
        clients = []
        for _ in range(20):
            clients.append(await shake_hands(door, tcp_pair()[::-1]))
        for number, client in enumerate(clients):
            await client.stream.send_all(frame(TEXT, b"%d" % number))
        with trio.fail_after(5):
            for number, client in enumerate(clients):
                assert await client.receive() == (TEXT, b"%d" % number)
        for client in clients:
            await client.stream.aclose()


async def test_a_hello_in_the_socket_is_heard_though_the_turn_did_not_reach_it(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stall more sockets are ready than one turn serves."""
    async with listening_server(mock_clock) as (tokens, clock, port):
        clients = [PlainClient(port) for _ in range(20)]
        for client in clients:
            assert b" 101 " in await client.raw.shake_hands()
        await wait_all_tasks_blocked(0.01)
        monkeypatch.setattr(hub_module, "_EVENTS_PER_TURN", 1)
        for number, client in enumerate(clients):
            token = tokens.sign(f"u{number}", clock.now(), 60)
            hello = {"type": "hello", "id": "1", "token": token}
            client.send_now(frame(TEXT, json.dumps(hello).encode()))
        mock_clock.jump(6)
        for client in clients:
            assert (await client.talker.hear())["type"] == "welcome"
        for client in clients:
            await trio.aclose_forcefully(client.raw.stream)


async def test_a_pong_in_the_socket_saves_a_connection_though_the_turn_did_not_reach_it(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hub_door(EdgeLimits()) as (door, _):
        clients = []
        for _ in range(20):
            clients.append(await shake_hands(door, tcp_pair()[::-1]))
        for _ in range(2):
            mock_clock.jump(door.limits.ping_interval_s)
            await wait_all_tasks_blocked(0.01)
        monkeypatch.setattr(hub_module, "_EVENTS_PER_TURN", 1)
        for client in clients:
            await client.stream.send_all(frame(PONG))
        mock_clock.jump(door.limits.ping_timeout_s + 1)
        await wait_all_tasks_blocked(0.01)
        assert door.open_connections == 20
        for client in clients:
            await client.stream.aclose()


@sources_only
async def test_a_hub_that_fails_closes_its_connections_and_serves_the_next(
    mock_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is restarted like any side actor; its clients come back."""
    failing = [True]
    turn = hub_module.Hub._turn

    def fail_once(self: hub_module.Hub, *args: object) -> None:
        if failing:
            failing.clear()
            raise RuntimeError("asked to")
        turn(self, *args)  # type: ignore[arg-type]

    async with listening_server(mock_clock) as (_, _, port):
        first = PlainClient(port)
        assert b" 101 " in await first.raw.shake_hands()
        monkeypatch.setattr(hub_module.Hub, "_turn", fail_once)
        first.send_now(frame(TEXT, b"hello?"))
        with pytest.raises(EOFError):
            await first.raw.receive()
        mock_clock.jump(60)
        await wait_all_tasks_blocked(0.01)
        second = PlainClient(port)
        assert b" 101 " in await second.raw.shake_hands()
        second.send_now(frame(0x9, b"?"))
        assert await second.raw.receive() == (PONG, b"?")
        for client in (first, second):
            await trio.aclose_forcefully(client.raw.stream)
