"""The client behind a proxy, from X-Forwarded-For, if a trusted proxy wrote it.

Each proxy appends the address that it was called from. So the list is read from its end, as long as
the addresses are trusted proxies; the first other address is the client's. Anything before that can
be forged.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

_HEADER = b"x-forwarded-for"
_SCHEME_HEADER = b"x-forwarded-proto"
_MOST_HOPS = 16

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class TrustedProxies:
    """The proxies whose headers are trusted; none by default."""

    __slots__ = ("_networks",)

    def __init__(self, networks: Iterable[str] = ()) -> None:
        self._networks = tuple(ipaddress.ip_network(network) for network in networks)

    def trusts(self, address: str) -> bool:
        """Whether this is the address of a trusted proxy."""
        if not self._networks:
            return False
        parsed = _parse(address)
        return parsed is not None and self._has(parsed)

    def client_of(self, address: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The client behind `address`; that itself if it is not a trusted proxy."""
        if not self.trusts(address):
            return address
        lines = [value for name, value in headers if name.lower() == _HEADER]
        hops = b",".join(lines).decode("latin-1").split(",")
        client = address
        for hop in reversed(hops[-_MOST_HOPS:]):
            parsed = _parse(hop)
            if parsed is None:
                break  # not an address: what is before it cannot be trusted
            client = str(parsed)
            if not self._has(parsed):
                break
        return client

    def _has(self, address: Address) -> bool:
        return any(address in network for network in self._networks)


def says_https(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a proxy was called over TLS. Its own entry in the header is the last one."""
    lines = [value for name, value in headers if name.lower() == _SCHEME_HEADER]
    return b",".join(lines).rpartition(b",")[2].strip().lower() == b"https"


def _parse(text: str) -> Address | None:
    """An address, with or without brackets, port and zone; an IPv4-mapped one as IPv4."""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        parsed = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = parsed.ipv4_mapped if isinstance(parsed, ipaddress.IPv6Address) else None
    return parsed if mapped is None else mapped
