"""Sockets: listening, limits, transports, keepalive."""

from __future__ import annotations

from yoked_actor.edge.net.accepting import (
    Peer,
    accept_connections,
    close_listeners,
    prepare_listener,
)
from yoked_actor.edge.net.admission import Admission
from yoked_actor.edge.net.forwarded import TrustedProxies, says_https
from yoked_actor.edge.net.incoming_socket import IncomingSocket
from yoked_actor.edge.net.keepalive import EdgeObserver, Keepalive, SilentObserver, Watched
from yoked_actor.edge.net.limits import AddressLimiter, EdgeLimits
from yoked_actor.edge.net.listening import (
    EdgeMetrics,
    edge_limits,
    open_listeners,
    tls_context,
    without_wire_timeouts,
)
from yoked_actor.edge.net.origins import Origins
from yoked_actor.edge.net.replaying_stream import ReplayingStream
from yoked_actor.edge.net.request_head import (
    WEBSOCKET_PATH,
    MalformedRequest,
    RequestHead,
    path_of,
    plain_answer,
    receive_head,
    wants_websocket,
)
from yoked_actor.edge.net.stream_transport import StreamTransport
from yoked_actor.edge.net.transport import RECEIVE_BYTES, Transport

__all__ = [
    "RECEIVE_BYTES",
    "WEBSOCKET_PATH",
    "AddressLimiter",
    "Admission",
    "EdgeLimits",
    "EdgeMetrics",
    "EdgeObserver",
    "IncomingSocket",
    "Keepalive",
    "MalformedRequest",
    "Origins",
    "Peer",
    "ReplayingStream",
    "RequestHead",
    "SilentObserver",
    "StreamTransport",
    "Transport",
    "TrustedProxies",
    "Watched",
    "accept_connections",
    "close_listeners",
    "edge_limits",
    "open_listeners",
    "path_of",
    "plain_answer",
    "prepare_listener",
    "receive_head",
    "says_https",
    "tls_context",
    "wants_websocket",
    "without_wire_timeouts",
]
