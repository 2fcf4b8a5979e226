"""The only module that uses private and undocumented names of Hypercorn, Quart and Quart-Trio.

pyproject.toml has upper bounds for all three. Hypercorn serves HTTP on connections whose first
request head the front door has read, so it gets a stream that replays those bytes. It serves
HTTP/1.1 only: by default Hypercorn switches to HTTP/2 when a client asks for it, and then neither
the limits of the front door nor the path rules of a proxy would apply. Faults that are corrected:

- Hypercorn shields its `send_all`, so a client that does not read would block the shutdown. The
  stream bounds every write, and writes can be cancelled from outside.
- Hypercorn keeps a connection whose client is gone until the keep-alive time is over, and closes
  one whose next request arrived while the process was stalled.
- Quart-Trio cancels the response task when the request's end of stream arrives, in the middle of
  sending the response: such connections never close. Here only a body that streams to a client
  that is gone is cancelled; a handler that is still running is not.
- Hypercorn keeps a connection open after a request with both `Content-Length` and
  `Transfer-Encoding`. A proxy may have used the other one (request smuggling). Here it is refused.
"""

from __future__ import annotations

import contextlib
import logging
from typing import Any, cast

import h11
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.lifespan import Lifespan
from hypercorn.trio.task_group import TaskGroup
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

from yoked_actor.edge.net import EdgeLimits, ReplayingStream

_APP_SHUTDOWN_S = 10
_VERSIONS = (b"1.0", b"1.1")
_TARGETS = (b"/", b"*", b"http://", b"https://")
_MISPLACED = b"A WebSocket needs a connection of its own.\n"

Address = tuple[str, int]


class CorrectedHTTPConnection(TrioASGIHTTPConnection):
    """Quart-Trio's HTTP connection, without the cancellation that truncates responses."""

    _streaming = False

    async def handle_messages(  # type: ignore[override]
        self, nursery: trio.Nursery, request: Request, receive: ASGIReceiveCallable
    ) -> None:
        """Read the request's body; cancel only a response body whose client is gone."""
        await ASGIHTTPConnection.handle_messages(self, request, receive)
        if self._streaming:
            nursery.cancel_scope.cancel()

    async def handle_request(  # type: ignore[override]
        self, nursery: trio.Nursery, request: Request, send: ASGISendCallable
    ) -> None:
        """Answer, and note when the body starts and when its last part is sent."""

        async def note_and_send(event: ASGISendEvent) -> None:
            if event["type"] == "http.response.start":
                self._streaming = True
            elif event["type"] == "http.response.body" and not event.get("more_body", False):
                self._streaming = False
            await send(event)

        await super().handle_request(nursery, request, note_and_send)


class Refused(Exception):
    """The request has been answered with an error, and the connection closes."""


class Http1Protocol(H11Protocol):
    """Hypercorn's HTTP/1.1, without the switch to HTTP/2."""

    async def handle(self, event: Event) -> None:
        """Handle an event; after a refused request the connection closes."""
        try:
            await super().handle(event)
        except Refused:
            await self.send(Closed())

    async def _check_protocol(self, event: h11.Request) -> None:
        # Hypercorn upgrades here. An upgrade to h2c is ignored instead, as the RFC allows: some
        # clients ask for it with every request, and accept an answer over HTTP/1.1.
        if event.http_version not in _VERSIONS:
            await self._refuse(505)
        # Quart reads the first character of the path without a check.
        if not event.target.startswith(_TARGETS):
            await self._refuse(400)
        names = {name for name, _ in event.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            await self._refuse(400)

    async def _refuse(self, status: int) -> None:
        await self._send_error_response(status)
        raise Refused


class CorrectedTCPServer(TCPServer):
    """Hypercorn's connection: HTTP/1.1 only, with an idle timer that checks before it closes.

    The TLS handshake, if any, is done.
    """

    stream: ReplayingStream  # type: ignore[assignment]
    _reading_over = False

    def __init__(
        self,
        app: ASGIWrapper,
        config: Config,
        context: WorkerContext,
        state: LifespanState,
        stream: ReplayingStream,
        *,
        is_tls: bool,
        peer: Address,
        local: Address,
    ) -> None:
        super().__init__(app, config, context, state, cast(Any, stream))
        self._is_tls = is_tls
        self._addresses = peer, local

    async def run(self) -> None:
        """Serve until the connection closes."""
        try:
            async with TaskGroup() as task_group:
                self._task_group = task_group
                self.protocol = cast(
                    Any,
                    Http1Protocol(
                        self.app,
                        self.config,
                        self.context,
                        task_group,
                        ConnectionState(self.state),
                        self._is_tls,
                        *self._addresses,
                        self.protocol_send,
                    ),
                )
                await self.idle_task.restart(task_group, self._idle_timeout)
                await self._read_data()
        except OSError:
            pass
        finally:
            await self._close()

    async def _read_data(self) -> None:
        await super()._read_data()
        self._reading_over = True
        await self.idle_task.stop()

    async def _idle_timeout(self) -> None:
        # After a stall of the process the next request may already be in the socket. A complete one
        # stops this task; an incomplete one gets one more period.
        for _ in range(2):
            if self._reading_over:
                return
            before = self.stream.received_bytes
            with trio.move_on_after(self.config.keep_alive_timeout):
                await self.context.terminated.wait()
                break
            await trio.lowlevel.checkpoint()  # the reader may have been woken in the same pass
            if self.stream.received_bytes == before:
                break
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()


class HypercornBridge:
    """Serves one ASGI app on streams."""

    def __init__(self, app: QuartTrio, limits: EdgeLimits) -> None:
        app.asgi_http_class = CorrectedHTTPConnection
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

    async def serve(
        self, stream: trio.abc.Stream, replay: bytes, peer: Address, *, behind_tls: bool
    ) -> None:
        """Serve HTTP on one connection until it closes; `behind_tls`: a proxy terminates TLS."""
        replaying = ReplayingStream(stream, replay, self._limits.http_stall_timeout_s)
        self._streams.add(replaying)
        server = CorrectedTCPServer(
            self._app,
            self._config,
            self._context,
            self._state.copy(),
            replaying,
            is_tls=behind_tls or isinstance(stream, trio.SSLStream),
            peer=peer,
            local=_local_name(stream),
        )
        try:
            await server.run()
        finally:
            self._streams.discard(replaying)
            # It and its protocol refer to each other: free them without the cyclic collector.
            vars(server).clear()
            # When cancelled, Hypercorn fails at its half-close and does not close.
            await trio.aclose_forcefully(stream)

    async def terminate(self) -> None:
        """Close idle connections now and the others after their current response."""
        await self._context.terminated.set()

    def finish(self) -> None:
        """Shut the app down; `run` returns when that is done."""
        self._finished.set()

    def cut_off(self) -> None:
        """Cancel every write in progress, shielded or not."""
        for stream in self._streams:
            stream.cut_off()


def _local_name(stream: trio.abc.Stream) -> Address:
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
    # The front door reads only the first request. An upgrade that comes later on a kept-alive
    # connection would reach the app as a WebSocket, for which it has no route.
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
