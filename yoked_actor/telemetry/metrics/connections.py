"""Metrics of connections: HTTP and WebSocket."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge

from yoked_actor.telemetry.metrics.common import count_of


class ConnectionMetrics:
    """Counts connections, why they are refused or closed, and the hellos of WebSockets."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.open = Gauge("yoked_connections", "Open connections", ["kind"], registry=r)
        self.refused = Counter(
            "yoked_connections_refused", "Connections turned away", ["reason"], registry=r
        )
        self.slow_readers = Counter(
            "yoked_slow_readers", "Connections closed because they did not read", registry=r
        )
        self.silent_peers = Counter(
            "yoked_silent_peers", "Connections closed because no ping was answered", registry=r
        )
        hellos = Counter("yoked_hellos", "Hellos, by what they led to", ["result"], registry=r)
        self._fresh = hellos.labels("fresh")
        self._resumed = hellos.labels("resumed")
        self._too_old = hellos.labels("not_resumed")

    def count_sockets(self) -> int:
        """How many WebSockets are open."""
        return count_of(self.open.labels("websocket"))

    def count_hello(self, wanted: bool, done: bool) -> None:
        """Count a hello: one that resumed its session, could not, or did not want to."""
        (self._resumed if done else self._too_old if wanted else self._fresh).inc()
