"""The limits of the edge, and the rate of arrivals for each address.

Nothing here reads a clock: times are parameters, in seconds from any monotonic origin.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict

import msgspec

from yoked_actor.domain.time import TokenBucket


class EdgeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """Every limit of the edge, with its default."""

    # Admission.
    max_connections: int = 20_000
    connections_per_s: float = 50.0
    connection_burst: int = 1_000
    remembered_addresses: int = 10_000
    accept_batch: int = 64
    accept_pause_s: float = 0.1

    # The request head.
    handshake_timeout_s: float = 10.0
    max_head_bytes: int = 16 * 1024

    # WebSocket.
    max_message_bytes: int = 16 * 1024
    ping_interval_s: float = 20.0
    ping_timeout_s: float = 20.0
    close_timeout_s: float = 2.0

    # Slow readers. The kernel's buffer is limited too: by default it can hold megabytes.
    send_buffer_bytes: int = 64 * 1024
    max_buffered_bytes: int = 256 * 1024
    stall_timeout_s: float = 5.0
    last_words_s: float = 1.0

    # HTTP.
    http_keep_alive_s: float = 15.0
    http_requests_per_connection: int = 1_000
    http_stall_timeout_s: float = 20.0


class AddressLimiter:
    """A token bucket per client address, for a bounded number of addresses; loopback is exempt."""

    __slots__ = ("_buckets", "_burst", "_max_addresses", "_rate_per_s")

    def __init__(self, rate_per_s: float, burst: float, max_addresses: int) -> None:
        self._rate_per_s = rate_per_s
        self._burst = burst
        self._max_addresses = max_addresses
        self._buckets: OrderedDict[str, TokenBucket] = OrderedDict()

    def allow(self, address: str, now_s: float) -> bool:
        """Count an arrival from this address; whether it is within the rate."""
        key = rate_key(address)
        if key is None:
            return True
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = TokenBucket(self._rate_per_s, self._burst, now_s)
            self._buckets[key] = bucket
            if len(self._buckets) > self._max_addresses:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(key)
        return bucket.take(now_s)

    def __len__(self) -> int:
        return len(self._buckets)


def rate_key(address: str) -> str | None:
    """The key that counts an address: the address, its /64 for IPv6, None for loopback."""
    if ":" not in address:
        return None if address.startswith("127.") else address
    try:
        parsed = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    mapped = parsed.ipv4_mapped
    if mapped is not None:
        return rate_key(str(mapped))
    if parsed.is_loopback:
        return None
    # A subscriber usually has a whole /64, and can use any address in it.
    return f"{ipaddress.IPv6Address(int(parsed) >> 64 << 64)}/64"
