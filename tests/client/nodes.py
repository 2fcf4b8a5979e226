"""Tiny servers that stand for the nodes of a service: each knows only where to send a client."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import trio
from trio_websocket import ConnectionClosed, WebSocketRequest, serve_websocket

WELCOME = {
    "type": "welcome",
    "session": "1-1",
    "seq": 0,
    "at": "2026-01-01T08:00:00Z",
    "resumed": False,
    "snapshot": {"state": "idle", "credit": 0},
    "heartbeat_every_s": 3.0,
}


class Node:
    """Sends clients to `to()`, or welcomes them when that is None."""

    def __init__(self, to: Callable[[], str | None] = lambda: None) -> None:
        self.to = to
        self.other: Node | None = None
        """Serves the rooms that users of this node enter; None: this node does."""
        self.room = "main"
        self.heartbeat_every_s = 3.0
        self.hangs = False
        """Whether commands are not answered."""
        self.url = ""
        self.hellos: list[dict[str, Any]] = []
        self.requests: list[bytes] = []
        self.sockets: list[Any] = []

    async def talk(self, request: WebSocketRequest) -> None:
        socket = await request.accept(subprotocol="yoked.v1")
        self.sockets.append(socket)
        try:
            hello = json.loads(await socket.get_message())
            self.hellos.append(hello)
            url = self.to()
            if url is not None:
                await self.send_away(socket, hello["id"], url)
                return
            snapshot = {"state": "idle", "credit": 0, "room": self.room}
            here = {"re": hello["id"], "room": self.room, "snapshot": snapshot}
            here["heartbeat_every_s"] = self.heartbeat_every_s
            await socket.send_message(json.dumps(WELCOME | here))
            while True:
                command = json.loads(await socket.get_message())
                if self.hangs:
                    continue
                if command["type"] == "enter_room" and self.other is not None:
                    self.other.room = command["room"]
                    await self.send_away(socket, None, self.other.url)
                    return
                await socket.send_message(json.dumps({"type": "ok", "re": command["id"]}))
        except ConnectionClosed:
            pass

    async def send_away(self, socket, id: str | None, url: str) -> None:
        error = {"type": "error", "re": id, "code": "moved", "message": "elsewhere", "url": url}
        await socket.send_message(json.dumps(error))
        await socket.aclose(4011, "moved")

    async def answer(self, stream: trio.abc.Stream) -> None:
        async with stream:
            head = b""
            while not _is_complete(head) and (part := await stream.receive_some(65536)):
                head += part
            self.requests.append(head)
            url = self.to()
            body = json.dumps({"code": "moved", "detail": "elsewhere", "url": url} if url else [1])
            line = f"307 Temporary Redirect\r\nLocation: {url}/x" if url else "200 OK"
            text = f"HTTP/1.1 {line}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            await stream.send_all(text.encode())


def _is_complete(request: bytes) -> bool:
    head, end, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    return bool(end) and len(body) >= (int(length[1]) if length else 0)


@asynccontextmanager
async def serve(*nodes: Node, http: bool = False) -> AsyncIterator[None]:
    """Serve the nodes on ports of their own."""
    async with trio.open_nursery() as nursery:
        for node in nodes:
            if http:
                serving: Any = partial(trio.serve_tcp, node.answer, 0, host="127.0.0.1")
                listener = (await nursery.start(serving))[0]
                port = listener.socket.getsockname()[1]
            else:
                serving = partial(serve_websocket, node.talk, "127.0.0.1", 0, None)
                port = (await nursery.start(serving)).port
            node.url = f"http://127.0.0.1:{port}"
        yield
        nursery.cancel_scope.cancel()
