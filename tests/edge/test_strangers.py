"""Clients that have not said hello: how long they have, and that nobody is blamed for the server.

The time to say hello, or to send a request, is the client's. A store that takes its time, or a
process that stood still, uses up none of it.
"""

from __future__ import annotations

import json
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.edge.listening import CROWD, listening_server, plain_clients
from tests.edge.raw_client import (
    PING,
    PONG,
    TEXT,
    Echo,
    RawWebSocket,
    dial,
    frame,
    open_door,
)
from tests.scenarios.meeting import MAN, WOMAN
from tests.scenarios.talker import Talker
from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.ws import Awaited
from yoked_actor.store import InlineRunner
from yoked_actor.testing import World, open_world

T = TypeVar("T")
STALL_S = 6
IMPATIENT = {"busy_timeout_s": 0}


@contextmanager
def locked(database: Path) -> Iterator[None]:
    """Let no commit succeed meanwhile, as on a disk that takes its time."""
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def hello(token: str) -> bytes:
    return json.dumps({"type": "hello", "id": "1", "token": token}).encode()


@asynccontextmanager
async def stalled_store(world: World, database: Path) -> AsyncIterator[None]:
    """Hold up every round of the matchmaker: it has a spin to store, and cannot."""
    ben = await world.join("ben", **MAN)
    async with trio.open_nursery() as nursery:
        with locked(database):
            nursery.start_soon(ben.spin)
            await wait_all_tasks_blocked()
            assert world.server.live.matchmaker.stalled
            yield


class SlowDisk(InlineRunner):
    """A disk on which every call takes a while, once it is told so."""

    call_s = 0.0

    async def run(self, fn: Callable[[], T]) -> T:
        await trio.sleep(self.call_s)
        return fn()


async def test_a_hello_in_time_is_welcomed_however_long_its_user_takes_to_load(
    autojump_clock, monkeypatch
):
    monkeypatch.setattr("yoked_actor.app.base.InlineRunner", SlowDisk)
    async with open_world() as world:
        talker = await Talker.dial(world)
        monkeypatch.setattr(SlowDisk, "call_s", 12.0)
        asked_at = trio.current_time()
        await talker.write(hello(world.token("ana")))
        assert (await talker.hear())["type"] == "welcome"
        assert trio.current_time() >= asked_at + 12
        monkeypatch.setattr(SlowDisk, "call_s", 0.0)
        assert (await talker.ask("heartbeat"))["type"] == "ok"


async def test_a_hello_in_time_is_welcomed_however_long_a_commit_takes(autojump_clock, tmp_path):
    database = tmp_path / "yoked.db"
    async with open_world(database=database, settings={"store": IMPATIENT}) as world:
        talker = await Talker.dial(world)
        async with stalled_store(world, database):
            await talker.write(hello(world.token("ana")))
            await trio.sleep(25)
        assert (await talker.hear())["type"] == "welcome"
        assert (await talker.ask("heartbeat"))["type"] == "ok"


async def test_a_server_that_cannot_welcome_says_so_and_the_client_may_come_back(
    autojump_clock, tmp_path
):
    database = tmp_path / "yoked.db"
    settings = {"store": IMPATIENT, "edge": {"welcome_timeout_s": 7}}
    async with open_world(database=database, settings=settings) as world:
        await world.sign_up("ana", **WOMAN)
        older, _ = await Talker.greet(world, "ana")
        newer = await Talker.dial(world)
        async with stalled_store(world, database):
            asked_at = trio.current_time()
            await newer.write(hello(world.token("ana")))
            assert (await newer.hung_up()).code == 1011
            assert trio.current_time() == asked_at + 7
            await newer.vanish()
            await wait_all_tasks_blocked()
        # The lobby knows the newer device only. The older one may come back, so it is not told
        # that it was replaced.
        assert (await older.hung_up()).code == 1011
        await older.vanish()
        await wait_all_tasks_blocked()
        assert world.server.live.sessions.connected() == ["ben"]
        back, welcome = await Talker.greet(world, "ana")
        assert welcome["snapshot"]["state"] == "idle"
        assert (await back.ask("spin"))["state"] == "matched"
        assert world.audit() == []


async def test_all_who_are_silent_are_closed_at_the_same_time(autojump_clock):
    async with open_world() as world:
        strangers = [await Talker.dial(world) for _ in range(CROWD)]
        for stranger in strangers:
            assert (await stranger.hung_up()).code == 4000
        assert trio.current_time() == 5


async def test_strangers_that_are_due_are_evicted_in_one_pass(autojump_clock):
    """However much the loop has to do meanwhile, no pass is needed for each of them."""
    async with open_world() as world:
        strangers = [await Talker.dial(world) for _ in range(CROWD)]
        # The deadlines are not all the same, and all are over.
        autojump_clock.jump(STALL_S)
        for _ in range(4):
            await trio.lowlevel.checkpoint()
        watched = world.server.edge.front_door.websockets
        assert [one.close_code for one in watched] == [4000] * CROWD
        for stranger in strangers:
            await stranger.vanish()


async def test_a_stranger_who_is_gone_is_not_kept_until_it_would_have_been_due(autojump_clock):
    async with open_world() as world:
        for _ in range(3):
            await (await Talker.dial(world)).vanish()
        await Talker.greet(world, "ana")
        await wait_all_tasks_blocked()
        assert len(world.server.edge.conversations.hello_timeouts) == 0


# A process that stood still


async def send_in_a_stall(
    clock: MockClock, stall_s: float, sent: Iterable[tuple[Any, bytes]]
) -> None:
    """Send on memory streams, and let the time pass before the server can read any of it."""
    pumps = []
    for stream, data in sent:
        stream.send_stream.send_all_hook = None
        await stream.send_all(data)
        pumps.append(stream.send_stream.close_hook)
    for pump in pumps:
        pump()
    clock.jump(stall_s)


async def test_hellos_that_lie_there_after_a_stall_are_heard(autojump_clock):
    async with open_world() as world:
        talkers = [await Talker.dial(world) for _ in range(CROWD)]
        await wait_all_tasks_blocked()
        hellos = [frame(TEXT, hello(world.token(f"u{number}"))) for number in range(CROWD)]
        streams = [talker.raw.stream for talker in talkers]
        await send_in_a_stall(autojump_clock, STALL_S, zip(streams, hellos, strict=True))
        for talker in talkers:
            assert (await talker.hear())["type"] == "welcome"


async def test_hellos_that_lie_in_the_sockets_after_a_stall_are_heard(mock_clock):
    async with (
        listening_server(mock_clock) as (tokens, clock, port),
        plain_clients(port) as clients,
    ):
        for client in clients:
            assert b" 101 " in await client.raw.shake_hands()
        await wait_all_tasks_blocked(0.01)
        for number, client in enumerate(clients):
            client.send_now(frame(TEXT, hello(tokens.sign(f"u{number}", clock.now(), 60))))
        mock_clock.jump(STALL_S)
        for client in clients:
            assert (await client.talker.hear())["type"] == "welcome"


async def test_requests_that_lie_in_the_sockets_after_a_stall_are_served(mock_clock):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with (
            open_door(listeners=[listener]) as door,
            plain_clients(listener.getsockname()[1]) as clients,
        ):
            await wait_all_tasks_blocked(0.01)
            assert door.open_connections == CROWD
            for client in clients:
                client.send_now(b"GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            mock_clock.jump(door.limits.handshake_timeout_s + 1)
            for client in clients:
                assert b" 200 " in await client.raw.read_head()


async def test_a_further_request_that_lies_there_after_a_stall_is_served(mock_clock):
    request = b"GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
    body = b"hello over http from 127.0.0.1"
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with (
            open_door(listeners=[listener]) as door,
            plain_clients(listener.getsockname()[1]) as clients,
        ):
            for client in clients:
                client.send_now(request)
                assert b" 200 " in await client.raw.read_head()
                assert await client.raw._exactly(len(body)) == body
            await wait_all_tasks_blocked(0.01)
            for client in clients:
                client.send_now(request)
            mock_clock.jump(door.limits.http_keep_alive_s + 1)
            for client in clients:
                assert b" 200 " in await client.raw.read_head()


async def in_the_echo(door: FrontDoor, nursery: trio.Nursery) -> RawWebSocket:
    client = RawWebSocket(dial(door, nursery))
    await client.shake_hands()
    return client


async def test_a_client_that_spoke_during_a_stall_is_not_disconnected(mock_clock):
    async with open_door() as door, trio.open_nursery() as nursery:
        clients = [await in_the_echo(door, nursery) for _ in range(CROWD)]
        await wait_all_tasks_blocked()
        for _ in range(2):
            # Two looks until everybody has been asked for a sign of life.
            mock_clock.jump(door.limits.ping_interval_s)
            await wait_all_tasks_blocked()
        answers = [(client.stream, frame(PONG)) for client in clients]
        await send_in_a_stall(mock_clock, door.limits.ping_timeout_s + 1, answers)
        await wait_all_tasks_blocked()
        assert door.open_connections == CROWD
        for client in clients:
            assert (await client.receive())[0] == PING
            await client.stream.aclose()


@pytest.mark.usefixtures("both_paths")
async def test_nobody_is_dropped_who_was_not_asked_for_a_sign_of_life(mock_clock):
    async with open_door() as door, trio.open_nursery() as nursery:
        client = await in_the_echo(door, nursery)
        await wait_all_tasks_blocked()
        for _ in range(2):
            mock_clock.jump(door.limits.ping_interval_s + door.limits.ping_timeout_s)
            await wait_all_tasks_blocked()
        assert (await client.receive())[0] == PING
        await client.stream.send_all(frame(PONG) + frame(TEXT, b"here"))
        assert await client.receive() == (TEXT, b"here")
        await client.stream.aclose()


@pytest.mark.usefixtures("both_paths")
async def test_a_client_that_waits_for_the_server_is_not_disconnected(autojump_clock):
    done = trio.Event()

    class Dawdling(Echo):
        def receive(self, text: bytes, now_s: float) -> Awaited:
            return self.answer(text)

        async def answer(self, text: bytes) -> None:
            await done.wait()
            self.connection.send(text)
            self.connection.flush()

    async with open_door(Dawdling) as door, trio.open_nursery() as nursery:
        client = await in_the_echo(door, nursery)
        await client.stream.send_all(frame(TEXT, b"a question"))
        await trio.sleep(300)
        done.set()
        assert await client.receive() == (TEXT, b"a question")
        await client.stream.aclose()
