"""Clients that speak in raw bytes, and a front door to speak to."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import h11
import pytest
import trio
import trio.testing
from quart import request
from quart_trio import QuartTrio

from yoked_actor.edge.front_door import FrontDoor
from yoked_actor.edge.net import EdgeLimits
from yoked_actor.edge.ws import Awaited, MessageHandler, WebSocketConnection

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0x0, 0x1, 0x2, 0x8, 0x9, 0xA
LOCAL = ("127.0.0.1", 40000)
MASK = b"\x11\x22\x33\x44"


def frame(
    opcode: int, payload: bytes = b"", *, fin: bool = True, masked: bool = True, rsv: int = 0
) -> bytes:
    """One client frame, well-formed unless asked otherwise."""
    head = bytes([(0x80 if fin else 0) | rsv << 4 | opcode])
    mask_bit = 0x80 if masked else 0
    if len(payload) < 126:
        head += bytes([mask_bit | len(payload)])
    elif len(payload) < 65536:
        head += struct.pack("!BH", mask_bit | 126, len(payload))
    else:
        head += struct.pack("!BQ", mask_bit | 127, len(payload))
    if not masked:
        return head + payload
    return head + MASK + bytes(byte ^ MASK[i % 4] for i, byte in enumerate(payload))


def close_frame(code: int, reason: bytes = b"") -> bytes:
    """A client's close frame."""
    return frame(CLOSE, struct.pack("!H", code) + reason)


def upgrade_request(target: str = "/ws", /, **changed: str | None) -> bytes:
    """A handshake request; a header given as None is left out, `_` stands for `-`."""
    headers: dict[str, str | None] = {
        "host": "yoked.test",
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
        "sec-websocket-version": "13",
        "sec-websocket-protocol": "yoked.v1",
    }
    headers.update({name.replace("_", "-"): value for name, value in changed.items()})
    lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join([f"GET {target} HTTP/1.1", *lines, "", ""]).encode()


class RawWebSocket:
    """A WebSocket client that can break every rule."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._buffer = b""

    async def shake_hands(self, also: bytes = b"") -> bytes:
        """Send the request (and more bytes with it); returns the response head."""
        await self.stream.send_all(upgrade_request() + also)
        return await self.read_head()

    async def read_head(self) -> bytes:
        """The bytes up to the empty line."""
        while b"\r\n\r\n" not in self._buffer:
            data = await self.stream.receive_some()
            assert data, f"closed after {self._buffer!r}"
            self._buffer += data
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        return head

    async def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            try:
                data = await self.stream.receive_some()
            except trio.BrokenResourceError:
                data = b""
            if not data:
                raise EOFError
            self._buffer += data
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    async def receive(self) -> tuple[int, bytes]:
        """The next frame's opcode and payload; EOFError at the end."""
        first, second = await self._exactly(2)
        assert first & 0xF0 == 0x80, "the server sends whole frames without extensions"
        assert second & 0x80 == 0, "the server does not mask"
        size = second
        if size == 126:
            [size] = struct.unpack("!H", await self._exactly(2))
        elif size == 127:
            [size] = struct.unpack("!Q", await self._exactly(8))
        return first & 0x0F, await self._exactly(size)

    async def receive_close(self) -> tuple[int | None, bytes]:
        """Skip data until the close frame: its code and reason; then the stream must end."""
        while True:
            opcode, payload = await self.receive()
            if opcode == CLOSE:
                break
        try:
            after = await self.receive()
        except EOFError:
            pass
        else:
            raise AssertionError(f"{after} after the close frame")
        if not payload:
            return None, b""
        return struct.unpack("!H", payload[:2])[0], payload[2:]


class HttpClient:
    """A keep-alive HTTP client on any stream."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._connection = h11.Connection(h11.CLIENT)

    async def get(self, target: str, **headers: str) -> tuple[int, bytes]:
        """Status and body of a GET."""
        head = {"host": "yoked.test"} | headers
        await self.stream.send_all(
            self._connection.send(
                h11.Request(method="GET", target=target, headers=list(head.items()))
            )
            + self._connection.send(h11.EndOfMessage())
        )
        return await self.response()

    async def response_to_get(self) -> tuple[int, bytes]:
        """The response to a GET that was sent by other means."""
        sent = h11.Request(method="GET", target="/", headers=[("host", "yoked.test")])
        self._connection.send(sent)
        self._connection.send(h11.EndOfMessage())
        return await self.response()

    async def start_post(self, target: str, size: int, **headers: str) -> bytes:
        """The bytes of a POST's head."""
        head = {"host": "yoked.test", "content-length": str(size)} | headers
        return self._connection.send(
            h11.Request(method="POST", target=target, headers=list(head.items()))
        )

    def body(self, data: bytes, *, last: bool) -> bytes:
        """The bytes of a part of the POST's body."""
        sent = self._connection.send(h11.Data(data=data))
        return sent + self._connection.send(h11.EndOfMessage()) if last else sent

    async def response(self) -> tuple[int, bytes]:
        """The response, after which the connection is ready for another request if it may be."""
        body = b""
        status = 0
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                self._connection.receive_data(bytes(await self.stream.receive_some()))
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                break
        if self._connection.our_state is h11.DONE:
            self._connection.start_next_cycle()
        return status, body


def small_app() -> QuartTrio:
    """An app with something to ask for."""
    app = QuartTrio("edge-under-test")

    @app.get("/hello")
    async def hello() -> str:
        return f"hello over {request.scheme} from {request.remote_addr}"

    @app.post("/size")
    async def size() -> str:
        return str(len(await request.get_data()))

    @app.get("/large")
    async def large() -> bytes:
        return b"x" * 8_000_000

    @app.get("/crash")
    async def crash() -> str:
        raise RuntimeError("asked to")

    return app


class Echo:
    """Sends every message back. A handler that a test needs is made from it."""

    def __init__(self, connection: WebSocketConnection) -> None:
        self.connection = connection

    def admits_frame(self, now_s: float) -> bool:
        return True

    def on_ping(self, now_s: float) -> None:
        pass

    def receive(self, text: bytes, now_s: float) -> Awaited | None:
        self.connection.send(text)
        self.connection.flush()
        return None

    def end(self) -> None:
        pass


@asynccontextmanager
async def open_door(
    on_websocket: Callable[[WebSocketConnection], MessageHandler] = Echo,
    limits: EdgeLimits | None = None,
    *,
    app: QuartTrio | None = None,
    **options: Any,
) -> AsyncIterator[FrontDoor]:
    """A front door that serves while the block runs."""
    serving = {name: options.pop(name) for name in ("listeners", "ssl_context") if name in options}
    door = FrontDoor(app or small_app(), on_websocket, limits, **options)
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(door.serve, **serving))
        yield door
        nursery.cancel_scope.cancel()


def tcp_pair() -> tuple[socket.socket, socket.socket]:
    """The client's and the server's end of a loopback connection, both non-blocking."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    for sock in (ours, theirs):
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs


def _dial_stream(door: FrontDoor, nursery: trio.Nursery, peer: tuple[str, int]) -> trio.abc.Stream:
    ours, theirs = trio.testing.memory_stream_pair()
    nursery.start_soon(door.serve_stream, theirs, peer)
    return ours


def _dial_socket(door: FrontDoor, nursery: trio.Nursery, peer: tuple[str, int]) -> trio.abc.Stream:
    ours, theirs = tcp_pair()
    door.admit(theirs, peer)
    return trio.SocketStream(trio.socket.from_stdlib_socket(ours))


PATHS = {"stream": _dial_stream, "hub": _dial_socket}
"""How WebSockets are served: each by a task, on any stream; or by the hub, on plain sockets."""
_path = "stream"


@pytest.fixture(params=PATHS)
def both_paths(request: pytest.FixtureRequest) -> Iterator[str]:
    """Runs a test once for each path: `dial` connects to that one."""
    global _path
    _path = request.param
    yield _path
    _path = "stream"


def dial(door: FrontDoor, nursery: trio.Nursery, peer: tuple[str, int] = LOCAL) -> trio.abc.Stream:
    """The client's end of a new connection to the door."""
    return PATHS[_path](door, nursery, peer)
