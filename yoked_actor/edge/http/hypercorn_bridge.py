"""Everything that touches the inside of Hypercorn and Quart-Trio.

Hypercorn serves HTTP on connections that the front door has already looked at, so it is given a
stream that yields the bytes read so far first. It speaks HTTP/1.1 and nothing else: by itself
Hypercorn would go over to HTTP/2 whenever a client asks for it, and then neither the limits of the
front door nor the path rules of a proxy in front of it would hold. Faults that are mended here:

- Hypercorn shields its `send_all`, so a client that does not read would hang the shutdown. The
  stream bounds every write itself and can be cut off from outside.
- Hypercorn keeps a connection whose client is gone until the keep-alive time is over, and closes
  one whose next request has arrived while the process was stalled.
- quart-trio cancels the response task when the request's end of stream arrives, which is in the
  middle of sending it: connections then never close. Ours cancels only a body that streams to a
  client that is gone; a handler that is still at work runs to its end.
- Hypercorn keeps a connection open after a request that has both a `Content-Length` and a
  `Transfer-Encoding`, of which a proxy may have believed the other one. Here it is refused.
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


class Refused(Exception):
    """A request that has been answered already, and after which the connection closes."""


class Http1Protocol(H11Protocol):
    """Hypercorn's HTTP/1.1, which never becomes HTTP/2."""

    async def handle(self, event: Event) -> None:
        """Take what came; a refused request is the last one."""
        try:
            await super().handle(event)
        except Refused:
            await self.send(Closed())

    async def _check_protocol(self, event: h11.Request) -> None:
        # Hypercorn upgrades here. An upgrade to h2c is ignored instead, as the RFC allows: some
        # clients ask for it with every request, and are content with an answer over HTTP/1.1.
        if event.http_version not in _VERSIONS:
            await self._refuse(505)
        # Quart looks for the first character of a path.
        if not event.target.startswith(_TARGETS):
            await self._refuse(400)
        names = {name for name, _ in event.headers}
        if {b"content-length", b"transfer-encoding"} <= names:
            await self._refuse(400)

    async def _refuse(self, status: int) -> None:
        await self._send_error_response(status)
        raise Refused


class MendedTCPServer(TCPServer):
    """Hypercorn's connection: HTTP/1.1 only, with an idle timer that looks before it closes.

    The stream is ready to be read: TLS, if any, has shaken hands.
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
        # After a stall of the process the next request may already lie in the socket. A complete
        # one stops this task; half of one gets one more period.
        for _ in range(2):
            if self._reading_over:
                return
            before = self.stream.received_bytes
            with trio.move_on_after(self.config.keep_alive_timeout):
                await self.context.terminated.wait()
                break
            await trio.lowlevel.checkpoint()  # the reader may have been woken in the same turn
            if self.stream.received_bytes == before:
                break
        with trio.CancelScope(shield=True):
            await self._initiate_server_close()


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

    async def serve(
        self, stream: trio.abc.Stream, replay: bytes, peer: Address, *, behind_tls: bool
    ) -> None:
        """Serve HTTP on one connection until it closes; `behind_tls`: a proxy has taken TLS off."""
        replaying = ReplayingStream(stream, replay, self._limits.http_stall_timeout_s)
        self._streams.add(replaying)
        server = MendedTCPServer(
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
            # It and its protocol refer to each other, and the garbage collector looks rarely.
            vars(server).clear()
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
