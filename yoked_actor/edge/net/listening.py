"""Sockets, TLS and limits from the settings of the edge, and its metrics."""

from __future__ import annotations

import socket
import ssl

import msgspec

from yoked_actor.edge.net.keepalive import EdgeObserver
from yoked_actor.edge.net.limits import EdgeLimits
from yoked_actor.settings import LONGEST_S, EdgeSettings
from yoked_actor.telemetry import Metrics


def edge_limits(edge: EdgeSettings) -> EdgeLimits:
    """The limits that the settings of the edge give."""
    return EdgeLimits(
        max_connections=edge.max_connections,
        connections_per_s=edge.connections_per_s,
        connection_burst=edge.connections_burst,
        handshake_timeout_s=edge.handshake_timeout_s,
        max_head_bytes=edge.max_head_bytes,
        max_message_bytes=edge.max_message_bytes,
        ping_interval_s=edge.ping_interval_s,
        ping_timeout_s=edge.ping_timeout_s,
        close_timeout_s=edge.close_timeout_s,
        send_buffer_bytes=edge.send_buffer_bytes,
        max_buffered_bytes=edge.max_buffered_bytes,
        stall_timeout_s=edge.stall_timeout_s,
        last_words_s=edge.last_words_s,
        http_keep_alive_s=edge.http_keep_alive_s,
        http_stall_timeout_s=edge.http_stall_timeout_s,
        http_requests_per_connection=edge.http_requests_per_connection,
        remembered_addresses=edge.remembered_addresses,
    )


def without_wire_timeouts(limits: EdgeLimits) -> EdgeLimits:
    """Limits for real sockets under a mock clock, whose time does not pass on the network.

    Moving the clock must not close a connection whose request is in transit, or that a browser
    keeps for its next request. Time-outs that the protocol promises (hello, slow readers) stay.
    """
    return msgspec.structs.replace(
        limits,
        ping_interval_s=LONGEST_S,
        handshake_timeout_s=LONGEST_S,
        http_keep_alive_s=LONGEST_S,
        http_stall_timeout_s=LONGEST_S,
    )


def open_listeners(host: str, port: int, backlog: int = 1024) -> list[socket.socket]:
    """Listening sockets for every address of a host, all on the same port."""
    listeners: list[socket.socket] = []
    try:
        for family, _, _, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            chosen = listeners[0].getsockname()[1] if listeners else port
            listeners.append(
                socket.create_server((address[0], chosen), family=family, backlog=backlog)
            )
    except OSError:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def tls_context(edge: EdgeSettings) -> ssl.SSLContext | None:
    """The TLS context, if the settings name a certificate."""
    if not edge.tls_certificate:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(edge.tls_certificate, edge.tls_key)
    return context


class EdgeMetrics(EdgeObserver):
    """Counts what the edge reports in the metrics."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics.connections

    def connection_opened(self, kind: str) -> None:
        self._metrics.open.labels(kind).inc()

    def connection_closed(self, kind: str) -> None:
        self._metrics.open.labels(kind).dec()

    def connection_refused(self, reason: str) -> None:
        self._metrics.refused.labels(reason).inc()

    def slow_reader(self) -> None:
        self._metrics.slow_readers.inc()

    def silent_peer(self) -> None:
        self._metrics.silent_peers.inc()
