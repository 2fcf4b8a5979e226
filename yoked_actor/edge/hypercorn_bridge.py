"""Everything that touches the inside of Hypercorn and Quart-Trio.

Hypercorn serves HTTP on connections that the front door has already looked at, so it is given a
stream that yields the bytes read so far first. Four faults are mended here:

- Hypercorn shields its `send_all`, so a client that does not read would hang the shutdown. The
  stream bounds every write itself and can be cut off from outside.
- Hypercorn keeps a connection whose client is gone until the keep-alive time is over.
- Hypercorn closes an idle connection without looking whether the next request has come.
- quart-trio cancels the response task when the request's end of stream arrives, which is in the
  middle of sending it: connections then never close. Ours cancels only a body that streams to a
  client that is gone; a handler that is still at work runs to its end.
"""

from __future__ import annotations

import contextlib
import logging
import socket
from typing import Any, cast

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveCallable,
    ASGISendCallable,
    ASGISendEvent,
    ConnectionState,
    LifespanState,
    Scope,
)
from quart.asgi import ASGIHTTPConnection
from quart.wrappers import Request
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection

from yoked_actor.edge.limits import EdgeLimits

_CHUNK_BYTES = 64 * 1024
_APP_SHUTDOWN_S = 10
_LAST_LOOKS = 4
_MISPLACED = b"A WebSocket needs a connection of its own.\n"


class MendedHTTPConnection(TrioASGIHTTPConnection):
    """Quart-Trio's HTTP connection, without the cancellation that cuts responses short."""

    _streaming = False

    async def handle_messages(  # type: ignore[override]
        self, nursery: trio.Nursery, request: Request, receive: ASGIReceiveCallable
    ) -> None:
        """Feed the request's body; cancel nothing but a body that nobody receives."""
        await ASGIHTTPConnection.handle_messages(self, request, receive)
        if self._streaming:
            nursery.cancel_scope.cancel()

    async def handle_request(  # type: ignore[override]
        self, nursery: trio.Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        """Answer, noting when the body starts and when its last part goes out."""

        async def noting(event: ASGISendEvent) -> None:
            if event["type"] == "http.response.start":
                self._streaming = True
            elif event["type"] == "http.response.body" and not event.get("more_body", False):
                self._streaming = False
            await send(event)

        await super().handle_request(nursery, request, noting)


class MendedTCPServer(TCPServer):
    """Hypercorn's connection, without the idle timer that outlives its client."""

    _reading_over = False

    async def _read_data(self) -> None:
        await super()._read_data()
        self._reading_over = True
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        if self._reading_over:
            return
        with trio.move_on_after(self.config.keep_alive_timeout):
            await self.context.terminated.wait()
        # After a stall of the process the next request may lie there. A few passes of the loop let
        # it be read, which cancels this.
        for _ in range(_LAST_LOOKS):
            await trio.lowlevel.checkpoint()
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()


class _Address:
    """As much of a socket as Hypercorn asks for."""

    __slots__ = ("_local", "_peer")
    family = socket.AF_INET

    def __init__(self, peer: tuple[str, int], local: tuple[str, int]) -> None:
        self._peer = peer
        self._local = local

    def getpeername(self) -> tuple[str, int]:
        return self._peer

    def getsockname(self) -> tuple[str, int]:
        return self._local


class ReplayingStream(trio.abc.HalfCloseableStream):
    """A stream that yields bytes already read first, and whose writes are bounded in time."""

    def __init__(
        self, stream: trio.abc.Stream, replay: bytes, address: _Address, stall_timeout_s: float
    ) -> None:
        self._stream = stream
        self._replay = replay
        self._stall_timeout_s = stall_timeout_s
        self._sending: trio.CancelScope | None = None
        self._cut_off = False
        self.socket = address

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        """The replayed bytes first, then the stream's."""
        if not self._replay:
            return bytes(await self._stream.receive_some(max_bytes))
        await trio.lowlevel.checkpoint()
        size = len(self._replay) if max_bytes is None else max_bytes
        data, self._replay = self._replay[:size], self._replay[size:]
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send, or break the stream when the peer takes nothing for too long."""
        view = memoryview(data)
        for start in range(0, len(view), _CHUNK_BYTES):
            with trio.move_on_after(self._stall_timeout_s) as self._sending:
                if self._cut_off:
                    self._sending.cancel()
                await self._stream.send_all(view[start : start + _CHUNK_BYTES])
            stalled = self._sending.cancelled_caught
            self._sending = None
            if stalled:
                await trio.aclose_forcefully(self._stream)
                raise trio.BrokenResourceError("the peer does not read")

    async def wait_send_all_might_not_block(self) -> None:
        """As the stream's own."""
        await self._stream.wait_send_all_might_not_block()

    async def send_eof(self) -> None:
        """Half-close where that exists; TLS closes as a whole, in `aclose`."""
        if isinstance(self._stream, trio.abc.HalfCloseableStream):
            with trio.move_on_after(self._stall_timeout_s):
                await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close, politely for a bounded time."""
        with trio.move_on_after(self._stall_timeout_s) as self._sending:
            if self._cut_off:
                self._sending.cancel()
            await self._stream.aclose()
        self._sending = None

    def cut_off(self) -> None:
        """Give up whatever is being sent, now and from now on."""
        self._cut_off = True
        if self._sending is not None:
            self._sending.cancel()


class TlsReplayingStream(ReplayingStream):
    """The same over TLS, whose handshake is over: Hypercorn learns the scheme from the methods."""

    @property
    def transport_stream(self) -> TlsReplayingStream:
        """Where Hypercorn looks for the addresses."""
        return self

    async def do_handshake(self) -> None:
        """Nothing: it has been done."""
        await trio.lowlevel.checkpoint()

    def selected_alpn_protocol(self) -> str:
        """The only one on offer."""
        return "http/1.1"


class HypercornBridge:
    """Serves one ASGI app on streams handed to it."""

    def __init__(self, app: QuartTrio, limits: EdgeLimits) -> None:
        app.asgi_http_class = MendedHTTPConnection
        self._app = ASGIWrapper(_refusing_websockets(cast(ASGIFramework, app)))
        self._limits = limits
        self._config = _configure(limits)
        self._context = WorkerContext(None)
        self._state: LifespanState = {}
        self._streams: set[ReplayingStream] = set()
        self._finished = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Start the app, wait for `finish`, shut the app down; a failed start raises."""
        lifespan = Lifespan(self._app, self._config, self._state)
        async with trio.open_nursery() as nursery:
            await nursery.start(lifespan.handle_lifespan)
            await lifespan.wait_for_startup()
            task_status.started()
            await self._finished.wait()
            await lifespan.wait_for_shutdown()
            nursery.cancel_scope.cancel()

    async def serve(self, stream: trio.abc.Stream, replay: bytes, peer: tuple[str, int]) -> None:
        """Serve HTTP on one connection until it closes."""
        kind = TlsReplayingStream if isinstance(stream, trio.SSLStream) else ReplayingStream
        address = _Address(peer, _local_name(stream))
        replaying = kind(stream, replay, address, self._limits.http_stall_timeout_s)
        self._streams.add(replaying)
        try:
            await MendedTCPServer(
                self._app,
                self._config,
                self._context,
                ConnectionState(self._state.copy()),
                cast(Any, replaying),
            ).run()
        finally:
            self._streams.discard(replaying)
            # Cancelled, Hypercorn stumbles over its half-close and never gets to the close.
            await trio.aclose_forcefully(stream)

    async def terminate(self) -> None:
        """Close idle connections now and the others after their current response."""
        await self._context.terminated.set()

    def finish(self) -> None:
        """Shut the app down; `run` returns when that is done."""
        self._finished.set()

    def cut_off(self) -> None:
        """Stop every write under way: shielded or not, nothing waits for a reader any more."""
        for stream in self._streams:
            stream.cut_off()


def _local_name(stream: trio.abc.Stream) -> tuple[str, int]:
    if isinstance(stream, trio.SSLStream):
        return _local_name(stream.transport_stream)
    if isinstance(stream, trio.SocketStream):
        with contextlib.suppress(OSError):
            host, port = stream.socket.getsockname()[:2]
            return str(host), int(port)
    return "", 0


def _configure(limits: EdgeLimits) -> Config:
    config = Config()
    config.accesslog = None
    config.errorlog = logging.getLogger("yoked_actor.edge.hypercorn")
    config.include_server_header = False
    config.h11_max_incomplete_size = limits.max_head_bytes
    config.keep_alive_timeout = limits.http_keep_alive_s
    config.keep_alive_max_requests = limits.http_requests_per_connection
    config.shutdown_timeout = _APP_SHUTDOWN_S
    return config


def _refusing_websockets(app: ASGIFramework) -> ASGIFramework:
    # The front door looks at the first request only. An upgrade that comes later on a kept-alive
    # connection would reach the app as a WebSocket that none of its routes expects.
    async def wrapped(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "websocket":
            await app(scope, receive, send)
            return
        await send(
            {
                "type": "websocket.http.response.start",
                "status": 400,
                "headers": [(b"content-type", b"text/plain"), (b"connection", b"close")],
            }
        )
        await send({"type": "websocket.http.response.body", "body": _MISPLACED, "more_body": False})

    return wrapped
