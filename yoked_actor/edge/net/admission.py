"""Which new connections are served: a maximum number of them, and a rate for each address."""

from __future__ import annotations

import structlog
import trio

from yoked_actor.edge.net.keepalive import EdgeObserver
from yoked_actor.edge.net.limits import AddressLimiter, EdgeLimits

_LOG_EVERY_S = 1.0

_log = structlog.get_logger()


class Admission:
    """Admits or refuses connections, and reports refusals."""

    def __init__(self, limits: EdgeLimits, observer: EdgeObserver) -> None:
        self._observer = observer
        self._logged_at = -_LOG_EVERY_S
        self.use(limits)

    def use(self, limits: EdgeLimits) -> None:
        """Apply these limits from now on; earlier arrivals are forgotten."""
        self._max_connections = limits.max_connections
        self._arrivals = AddressLimiter(
            limits.connections_per_s, limits.connection_burst, limits.remembered_addresses
        )

    def refusal(self, address: str, open_connections: int, *, is_proxy: bool) -> int | None:
        """The HTTP status that refuses a new connection; None to serve it."""
        if open_connections >= self._max_connections:
            return self._refuse("full", 503, address, open_connections)
        # Behind a trusted proxy, the client is counted when its request head has named it.
        return None if is_proxy else self.rate_refusal(address, open_connections)

    def rate_refusal(self, address: str, open_connections: int) -> int | None:
        """Count an arrival; the HTTP status that refuses it, or None."""
        if self._arrivals.allow(address, trio.current_time()):
            return None
        return self._refuse("rate", 429, address, open_connections)

    def _refuse(self, reason: str, status: int, address: str, open_connections: int) -> int:
        self._observer.connection_refused(reason)
        now = trio.current_time()
        # One log line a second at most, however many connections are refused.
        if now - self._logged_at >= _LOG_EVERY_S:
            self._logged_at = now
            _log.warning("connection_refused", reason=reason, peer=address, open=open_connections)
        return status
