"""A server in memory on a loopback port, and clients that keep every message in and out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
from trio.testing import MockClock
from trio_websocket import WebSocketConnection, wrap_client_stream

from yoked_actor.app.server import Server, open_server
from yoked_actor.edge.auth import Tokens
from yoked_actor.edge.net import open_listeners
from yoked_actor.settings import Settings

Message = dict[str, Any]

SECRET = "a secret of thirty-two bytes, and more"


@asynccontextmanager
async def open_house(
    *,
    dev: bool = True,
    mock_clock: MockClock | None = None,
    matching: dict[str, float] | None = None,
    date: dict[str, float] | None = None,
    rooms: dict[str, dict[str, object]] | None = None,
) -> AsyncIterator[tuple[Server, str]]:
    """A running server, and where it listens."""
    listeners = open_listeners("127.0.0.1", 0)
    address = f"127.0.0.1:{listeners[0].getsockname()[1]}"
    async with open_server(
        Settings.model_validate(
            {
                "server": {"drain_s": 1.0},
                "matching": matching or {},
                "date": date or {},
                "rooms": rooms or {},
            }
        ),
        Tokens("HS256", SECRET),
        database=None,
        listeners=listeners,
        mock_clock=mock_clock,
        dev=dev,
    ) as server:
        yield server, address


class Client:
    """Speaks over the socket and keeps what was said: commands, and what came back."""

    def __init__(self, socket: WebSocketConnection) -> None:
        self._socket = socket
        self._unread: list[Message] = []
        self.sent: list[Message] = []
        self.heard: list[Message] = []

    async def say(self, type: str, **fields: Any) -> Message:
        """Send a command and wait for its reply (to hello: the welcome)."""
        command = {"type": type, "id": f"{type}-{len(self.sent)}", **fields}
        self.sent.append(command)
        await self._socket.send_message(json.dumps(command))
        return await self._next(lambda message: message.get("re") == command["id"])

    async def event(self, type: str) -> Message:
        """Wait for the next event of a type."""
        return await self._next(lambda message: message["type"] == type)

    async def _next(self, wanted: Any) -> Message:
        with trio.fail_after(5):
            while True:
                for message in self._unread:
                    if wanted(message):
                        self._unread.remove(message)
                        return message
                message = json.loads(await self._socket.get_message())
                self.heard.append(message)
                self._unread.append(message)


@asynccontextmanager
async def connect(address: str) -> AsyncIterator[Client]:
    """A client that has not said hello yet."""
    host, _, port = address.partition(":")
    # The stream is ours, so that it is closed even when the server hangs up first.
    async with (
        await trio.open_tcp_stream(host, int(port)) as stream,
        trio.open_nursery() as nursery,
    ):
        socket = await wrap_client_stream(
            nursery, stream, address, "/ws", subprotocols=["yoked.v1"]
        )
        async with socket:
            yield Client(socket)


def profile(name: str, gender: str, seeking: str) -> Message:
    """A complete profile."""
    return {
        "display_name": name,
        "birth_date": "1998-04-02",
        "gender": gender,
        "location": {"lat": 52.52, "lon": 13.4},
        "time_zone": "Europe/Berlin",
        "interests": ["jazz"],
        "preferences": {
            "seeking": [seeking],
            "min_age": 18,
            "max_age": 60,
            "max_distance_km": 50,
        },
    }
