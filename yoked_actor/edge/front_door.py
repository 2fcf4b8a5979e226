"""The front door: one port for pages, HTTP API and WebSocket.

It accepts, admits (rate per address, number of connections), reads the request head once, and
gives the connection to the WebSocket handler or to Hypercorn. What goes wrong on one connection is
logged and ends that connection only.
"""

from __future__ import annotations

import contextlib
import errno
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec
import structlog
import trio
from quart_trio import QuartTrio

from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.edge.http import HypercornBridge
from yoked_actor.edge.net import (
    AddressLimiter,
    EdgeLimits,
    EdgeObserver,
    Keepalive,
    MalformedRequest,
    Origins,
    RequestHead,
    SilentObserver,
    SocketTransport,
    StreamTransport,
    Transport,
    TrustedProxies,
    Watched,
    plain_answer,
    receive_head,
    says_https,
    wants_websocket,
)
from yoked_actor.edge.ws import WebSocketConnection, answer_handshake
from yoked_actor.wire.close_codes import CloseCode

_log = structlog.get_logger()

_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
Peer = tuple[str, int]


class FrontDoor:
    """Serves one port; `serve` runs it, `stop` ends it."""

    def __init__(
        self,
        app: QuartTrio,
        on_websocket: Callable[[WebSocketConnection], Awaitable[None]],
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
        self._origins = Origins() if origins is None else origins
        self._proxies = TrustedProxies(trusted_proxies)
        self._observer: EdgeObserver = SilentObserver() if observer is None else observer
        self._bridge = HypercornBridge(app, self.limits)
        self._keepalive = Keepalive(self.limits, self._observer)
        self._arrivals = AddressLimiter(
            self.limits.connections_per_s,
            self.limits.connection_burst,
            self.limits.remembered_addresses,
        )
        self._open = 0
        self._all_closed = trio.Event()
        self._accepting = trio.CancelScope()
        self._grace_s = 0.0
        self._is_hurried = False
        self._nursery: trio.Nursery | None = None
        self._complained_at = -1.0

    @property
    def open_connections(self) -> int:
        """How many connections there are, of either kind."""
        return self._open

    @property
    def websockets(self) -> frozenset[Watched]:
        """The WebSockets that are being served."""
        return self._keepalive.watched

    def drain(self) -> None:
        """Refuse new WebSockets with 503 from now on; HTTP goes on."""
        self.draining = True

    def stop(self, grace_s: float) -> None:
        """Accept nothing more; connections get `grace_s` to end, then `serve` returns."""
        self.drain()
        self._grace_s = grace_s
        self._accepting.cancel()

    def admit_by(self, *, max_connections: int, connections_per_s: float, burst: int) -> None:
        """Judge new connections by these numbers from now on; what was counted is forgotten."""
        self.limits = msgspec.structs.replace(
            self.limits,
            max_connections=max_connections,
            connections_per_s=connections_per_s,
            connection_burst=burst,
        )
        self._arrivals = AddressLimiter(connections_per_s, burst, self.limits.remembered_addresses)

    def hurry(self) -> None:
        """Give connections no more than a moment to end, now or when it is told to stop."""
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
                if self._supervisor is None:
                    timers.start_soon(self._keepalive.run)
                else:
                    run_side = self._supervisor.run_side
                    timers.start_soon(run_side, "keepalive", self._keepalive.run)
                async with trio.open_nursery() as nursery:
                    self._nursery = nursery
                    try:
                        with self._accepting:
                            for listener in listeners:
                                _prepare_listener(listener, self.limits)
                                nursery.start_soon(self._accept_from, listener, ssl_context)
                            task_status.started()
                            await trio.sleep_forever()
                        _close(listeners)
                        await self._let_go()
                    finally:
                        self._nursery = None
                        _close(listeners)
                        self._bridge.cut_off()
                        nursery.cancel_scope.cancel()
                timers.cancel_scope.cancel()
            self._bridge.finish()

    async def serve_stream(self, stream: trio.abc.Stream, peer: Peer) -> None:
        """Serve one connection on a stream that is already open, until it ends."""
        nursery = self._nursery
        if nursery is None:
            raise RuntimeError("the front door is not being served")
        refusal = self._refusal(peer)
        transport = StreamTransport(stream, nursery, self.limits)
        if refusal is not None:
            await self._turn_away(transport, plain_answer(refusal))
            return
        self._open += 1
        await self._handle(transport, peer)

    async def _let_go(self) -> None:
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

    async def _accept_from(
        self, listener: socket.socket, ssl_context: ssl.SSLContext | None
    ) -> None:
        while True:
            try:
                await trio.lowlevel.wait_readable(listener)
                for _ in range(self.limits.accept_batch):
                    sock, address = listener.accept()
                    self._admit(sock, (str(address[0]), int(address[1])), ssl_context)
            except (BlockingIOError, InterruptedError):
                continue
            except (trio.ClosedResourceError, ValueError):
                return
            except OSError as error:
                if error.errno in _OUT_OF_RESOURCES:
                    _log.error("accept_failed", error=str(error), open=self._open)
                    await trio.sleep(self.limits.accept_pause_s)
                elif error.errno in (errno.EBADF, errno.EINVAL):
                    return

    def _admit(self, sock: socket.socket, peer: Peer, ssl_context: ssl.SSLContext | None) -> None:
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
        if ssl_context is None:
            transport = SocketTransport(sock, nursery, self.limits)
        else:
            plain = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
            tls = trio.SSLStream(plain, ssl_context, server_side=True)
            transport = StreamTransport(tls, nursery, self.limits)
        self._open += 1
        nursery.start_soon(self._handle, transport, peer)

    def _refusal(self, peer: Peer) -> int | None:
        now = trio.current_time()
        if self._open >= self.limits.max_connections:
            return self._refuse("full", 503, peer, now)
        # Who comes through a trusted proxy is counted once their head has said who they are.
        if self._proxies.trusts(peer[0]) or self._arrivals.allow(peer[0], now):
            return None
        return self._refuse("rate", 429, peer, now)

    def _refuse(self, reason: str, status: int, peer: Peer, now: float) -> int:
        self._observer.connection_refused(reason)
        # A flood of arrivals must not become a flood of log lines.
        if now - self._complained_at >= 1.0:
            self._complained_at = now
            _log.warning("connection_refused", reason=reason, peer=peer[0], open=self._open)
        return status

    async def _handle(self, transport: Transport, peer: Peer) -> None:
        """One connection, from its first byte to its end; crashes stop here."""
        kind = None
        behind_tls = False
        try:
            head = await self._read_head(transport)
            if head is None:
                return
            if self._proxies.trusts(peer[0]):
                behind_tls = says_https(head.request.headers)
                peer = self._proxies.client_of(peer[0], head.request.headers), peer[1]
                now = trio.current_time()
                if not self._arrivals.allow(peer[0], now):
                    answer = plain_answer(self._refuse("rate", 429, peer, now))
                    await self._turn_away(transport, answer)
                    return
            if not wants_websocket(head.request):
                kind = "http"
                self._observer.connection_opened(kind)
                stream, raw = transport.detach(), head.raw
                del head
                await self._bridge.serve(stream, raw, peer, behind_tls=behind_tls)
                return
            connection = await self._upgrade(transport, head, peer)
            # A connection may idle for hours: what it no longer needs goes now.
            del head
            if connection is not None:
                kind = "websocket"
                self._observer.connection_opened(kind)
                await self._on_websocket(connection)
        except Exception:
            _log.exception("connection_crashed", peer=peer[0], kind=kind)
        finally:
            if kind != "http":
                transport.abort()
            if kind is not None:
                self._observer.connection_closed(kind)
            self._count_closed()

    def _count_closed(self) -> None:
        self._open -= 1
        if not self._open:
            self._all_closed.set()

    async def _read_head(self, transport: Transport) -> RequestHead | None:
        """The request head, or None when there is none to serve."""
        try:
            with trio.move_on_after(self.limits.handshake_timeout_s):
                return await receive_head(transport, self.limits.max_head_bytes)
        except MalformedRequest as error:
            self._observer.connection_refused("malformed")
            await self._turn_away(transport, plain_answer(error.status))
        return None

    async def _upgrade(
        self, transport: Transport, head: RequestHead, peer: Peer
    ) -> WebSocketConnection | None:
        if not head.bodiless:
            self._observer.connection_refused("malformed")
            await self._turn_away(transport, plain_answer(400))
            return None
        answer = answer_handshake(head.request, origins=self._origins, draining=self.draining)
        if not answer.accepted:
            self._observer.connection_refused("draining" if answer.status == 503 else "handshake")
            await self._turn_away(transport, answer.data)
            return None
        transport.push([answer.data])
        return WebSocketConnection(
            transport,
            self._keepalive,
            peer=peer[0],
            subprotocol=answer.subprotocol,
            received=head.trailing,
        )

    async def _turn_away(self, transport: Transport, answer: bytes) -> None:
        """Answer and close, giving the client a moment to read it before the hard end."""
        try:
            transport.push([answer])
            transport.push_eof()
            with trio.move_on_after(self.limits.last_words_s):
                while await transport.receive():
                    pass
        finally:
            transport.abort()


def _prepare_listener(listener: socket.socket, limits: EdgeLimits) -> None:
    # Accepted sockets inherit these, which saves two system calls for each.
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, limits.send_buffer_bytes)
    if listener.family in (socket.AF_INET, socket.AF_INET6):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _close(listeners: Sequence[socket.socket]) -> None:
    for listener in listeners:
        if listener.fileno() >= 0:
            trio.lowlevel.notify_closing(listener)
            listener.close()
