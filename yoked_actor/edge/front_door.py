"""The front door: one port for pages, HTTP API and WebSocket.

It accepts a connection or refuses it, reads the request head once, and passes the connection to the
WebSocket handler or to Hypercorn. An error on one connection is logged and ends only that one.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence

import msgspec
import structlog
import trio
from quart_trio import QuartTrio

from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.edge.first_request import FirstRequests
from yoked_actor.edge.http import HypercornBridge
from yoked_actor.edge.net import (
    Admission,
    EdgeLimits,
    EdgeObserver,
    IncomingSocket,
    Keepalive,
    Origins,
    Peer,
    SilentObserver,
    StreamTransport,
    Transport,
    TrustedProxies,
    Watched,
    accept_connections,
    close_listeners,
    plain_answer,
    prepare_listener,
    says_https,
    wants_websocket,
)
from yoked_actor.edge.ws import (
    HUB_IS_SUPPORTED,
    Hub,
    MessageHandler,
    StreamConnection,
    WebSocketConnection,
)
from yoked_actor.wire.close_codes import CloseCode

_log = structlog.get_logger()


class FrontDoor:
    """Serves one port, from `serve` to `stop`."""

    def __init__(
        self,
        app: QuartTrio,
        on_websocket: Callable[[WebSocketConnection], MessageHandler],
        limits: EdgeLimits | None = None,
        *,
        origins: Origins | None = None,
        trusted_proxies: Iterable[str] = (),
        observer: EdgeObserver | None = None,
        supervisor: Supervisor | None = None,
    ) -> None:
        """Without a `supervisor`, an error in the timers of all connections ends `serve`."""
        self.limits = EdgeLimits() if limits is None else limits
        self.draining = False
        self._on_websocket = on_websocket
        self._supervisor = supervisor
        self._proxies = TrustedProxies(trusted_proxies)
        self._observer: EdgeObserver = SilentObserver() if observer is None else observer
        allowed = Origins() if origins is None else origins
        self._first = FirstRequests(self.limits, allowed, self._observer)
        self._bridge = HypercornBridge(app, self.limits)
        self._keepalive = Keepalive(self.limits, self._observer)
        self._hub = Hub(self._keepalive, on_websocket, self._websocket_ended)
        self._admission = Admission(self.limits, self._observer)
        self._open = 0
        self._all_closed = trio.Event()
        self._accepting = trio.CancelScope()
        self._grace_s = 0.0
        self._is_hurried = False
        self._nursery: trio.Nursery | None = None

    @property
    def open_connections(self) -> int:
        """The number of open connections, of either kind."""
        return self._open

    @property
    def websockets(self) -> frozenset[Watched]:
        """The WebSockets that are being served."""
        return self._keepalive.watched

    def drain(self) -> None:
        """Refuse new WebSockets with 503 from now on; HTTP is still served."""
        self.draining = True

    def stop(self, grace_s: float) -> None:
        """Accept no more connections; `serve` returns when all have ended, or after `grace_s`."""
        self.drain()
        self._grace_s = grace_s
        self._accepting.cancel()

    def admit_by(self, *, max_connections: int, connections_per_s: float, burst: int) -> None:
        """Admit new connections by these limits from now on; earlier arrivals are forgotten."""
        self.limits = msgspec.structs.replace(
            self.limits,
            max_connections=max_connections,
            connections_per_s=connections_per_s,
            connection_burst=burst,
        )
        self._admission.use(self.limits)

    def hurry(self) -> None:
        """Shorten the grace period of `stop`, now or later, to `last_words_s`."""
        self._is_hurried = True
        self._all_closed.set()

    async def serve(
        self,
        listeners: Sequence[socket.socket] = (),
        *,
        ssl_context: ssl.SSLContext | None = None,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve listening sockets (and `serve_stream`) until `stop`; the sockets are closed."""
        if ssl_context is not None:
            ssl_context.set_alpn_protocols(["http/1.1"])
        async with trio.open_nursery() as app:
            await app.start(self._bridge.run)
            async with trio.open_nursery() as timers:
                self._start_sides(timers)
                async with trio.open_nursery() as nursery:
                    self._nursery = nursery
                    try:
                        with self._accepting:
                            for listener in listeners:
                                prepare_listener(listener, self.limits)
                                nursery.start_soon(self._accept, listener, ssl_context)
                            task_status.started()
                            await trio.sleep_forever()
                        close_listeners(listeners)
                        await self._wait_closed()
                    finally:
                        self._nursery = None
                        close_listeners(listeners)
                        self._bridge.cut_off()
                        nursery.cancel_scope.cancel()
                timers.cancel_scope.cancel()
            self._bridge.finish()

    def _start_sides(self, nursery: trio.Nursery) -> None:
        sides = {"keepalive": self._keepalive.run}
        if HUB_IS_SUPPORTED:
            sides["hub"] = self._hub.run
        for name, run in sides.items():
            if self._supervisor is None:
                nursery.start_soon(run)
            else:
                nursery.start_soon(self._supervisor.run_side, name, run)

    async def serve_stream(self, stream: trio.abc.Stream, peer: Peer) -> None:
        """Serve one connection on a stream that is already open, until it ends."""
        nursery = self._nursery
        if nursery is None:
            raise RuntimeError("the front door is not being served")
        refusal = self._refusal(peer)
        transport = StreamTransport(stream, nursery, self.limits)
        if refusal is not None:
            await self._first.refuse(transport, plain_answer(refusal))
            return
        self._open += 1
        await self._handle(transport, peer)

    async def _wait_closed(self) -> None:
        """Ask every connection to close, and wait for the grace period."""
        await self._bridge.terminate()
        for connection in self._keepalive.watched:
            connection.close(CloseCode.GOING_AWAY, "going away")
        if self._open:
            self._all_closed = trio.Event()
            grace_s = self._grace_s
            if self._is_hurried:
                grace_s = min(grace_s, self.limits.last_words_s)
            with trio.move_on_after(grace_s):
                await self._all_closed.wait()

    async def _accept(self, listener: socket.socket, ssl_context: ssl.SSLContext | None) -> None:
        def admit(sock: socket.socket, peer: Peer) -> None:
            self.admit(sock, peer, ssl_context)

        await accept_connections(listener, self.limits, admit, lambda: self._open)

    def _refusal(self, peer: Peer) -> int | None:
        is_proxy = self._proxies.trusts(peer[0])
        return self._admission.refusal(peer[0], self._open, is_proxy=is_proxy)

    def admit(
        self, sock: socket.socket, peer: Peer, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        """Serve a connected socket, or refuse it. Does not block."""
        nursery = self._nursery
        refusal = self._refusal(peer)
        sock.setblocking(False)
        if refusal is not None or nursery is None:
            if ssl_context is None:
                with contextlib.suppress(OSError):
                    sock.send(plain_answer(refusal or 503))
            sock.close()
            return
        transport: Transport
        if ssl_context is None and HUB_IS_SUPPORTED:
            transport = IncomingSocket(sock)
        else:
            stream: trio.abc.Stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
            if ssl_context is not None:
                stream = trio.SSLStream(stream, ssl_context, server_side=True)
            transport = StreamTransport(stream, nursery, self.limits)
        self._open += 1
        nursery.start_soon(self._handle, transport, peer)

    async def _handle(self, transport: Transport, peer: Peer) -> None:
        """Serve one connection to its end. Errors are logged here and go no further."""
        kind = None
        is_hubs = False
        behind_tls = False
        try:
            head = await self._first.read(transport)
            if head is None:
                return
            if self._proxies.trusts(peer[0]):
                behind_tls = says_https(head.request.headers)
                peer = self._proxies.client_of(peer[0], head.request.headers), peer[1]
                refusal = self._admission.rate_refusal(peer[0], self._open)
                if refusal is not None:
                    await self._first.refuse(transport, plain_answer(refusal))
                    return
            if not wants_websocket(head.request):
                kind = "http"
                self._observer.connection_opened(kind)
                stream, raw = transport.detach(), head.raw
                del head
                await self._bridge.serve(stream, raw, peer, behind_tls=behind_tls)
                return
            answer = await self._first.upgrade(transport, head, draining=self.draining)
            if answer is None:
                return
            kind = "websocket"
            self._observer.connection_opened(kind)
            is_hubs = isinstance(transport, IncomingSocket)
            connection = self._open_websocket(transport, head.trailing, peer, answer.subprotocol)
            # A connection may idle for hours: free what it no longer needs.
            del head, answer
            if connection is not None:
                await connection.run(self._on_websocket(connection))
        except Exception:
            _log.exception("connection_crashed", peer=peer[0], kind=kind)
        finally:
            if kind != "http":
                transport.abort()
            if not is_hubs:
                self._count_closed(kind)

    def _open_websocket(
        self, transport: Transport, received: bytes, peer: Peer, subprotocol: str | None
    ) -> StreamConnection | None:
        """The connection to run; None when the hub runs it, and reports its end."""
        if isinstance(transport, IncomingSocket):
            self._hub.adopt(
                transport.release(), peer=peer[0], subprotocol=subprotocol, received=received
            )
            return None
        assert isinstance(transport, StreamTransport)
        return StreamConnection(
            transport,
            self._keepalive,
            peer=peer[0],
            subprotocol=subprotocol,
            received=received,
        )

    def _websocket_ended(self) -> None:
        self._count_closed("websocket")

    def _count_closed(self, kind: str | None) -> None:
        if kind is not None:
            self._observer.connection_closed(kind)
        self._open -= 1
        if not self._open:
            self._all_closed.set()
