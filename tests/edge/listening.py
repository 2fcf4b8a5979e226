"""A server on a real port and a mock clock, and plain sockets to it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.edge.raw_client import RawWebSocket
from tests.scenarios.talker import Talker
from yoked_actor.actors.clock import Clock
from yoked_actor.app.server import Server, open_server
from yoked_actor.edge.auth import Tokens
from yoked_actor.settings import load_settings

# Whether a deadline or a message is looked at first is random in trio: with so many sockets, an
# order that loses one of them comes up practically always.
CROWD = 20


class PlainClient:
    """A blocking socket on which a test can send without letting the server run."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.raw = RawWebSocket(trio.SocketStream(trio.socket.from_stdlib_socket(self.sock)))
        self.talker = Talker(self.raw)

    def send_now(self, data: bytes) -> None:
        assert self.sock.send(data) == len(data)


@asynccontextmanager
async def plain_clients(port: int, count: int = CROWD) -> AsyncIterator[list[PlainClient]]:
    """A crowd of them, hung up when the block is left."""
    clients: list[PlainClient] = []
    try:
        for _ in range(count):
            clients.append(PlainClient(port))
            if len(clients) % CROWD == 0:
                # Let the server accept: the queue of its listener is short.
                await wait_all_tasks_blocked(0.01)
        yield clients
    finally:
        for client in clients:
            await trio.aclose_forcefully(client.raw.stream)


@asynccontextmanager
async def listening_server(clock: MockClock) -> AsyncIterator[tuple[Tokens, Clock, int]]:
    """A server on a real port and a mock clock."""
    async with open_listening(clock) as (server, port):
        yield server.edge.tokens, server.base.clock, port


@asynccontextmanager
async def open_listening(clock: MockClock) -> AsyncIterator[tuple[Server, int]]:
    """The same server, to look into it, and its port."""
    tokens = Tokens("HS256", "a secret of thirty-two bytes or more")
    ours = Clock.starting(datetime.fromisoformat("2026-01-01T08:00:00Z"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with open_server(
            load_settings(None, {}, {}),
            tokens,
            database=None,
            clock=ours,
            mock_clock=clock,
            listeners=[listener],
        ) as server:
            yield server, listener.getsockname()[1]
