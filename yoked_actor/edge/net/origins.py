"""Which origins may call the server, and which host names it answers to.

A browser sends the origin of the page with each request. Pages of the server itself and of the
origins in the settings are allowed. A client that sends no origin is not a browser, so no page can
misuse it.

With `--dev` anyone can log in as anyone, so only host names of the machine itself are answered.
Otherwise a page of another site could resolve its own name to 127.0.0.1 (DNS rebinding) and would
count as a page of this server.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Iterable, Sequence
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
# Reserved by RFC 6761: they resolve to the machine itself or not at all; they cannot be registered.
_OWN_NAMES = ("localhost", "test")


class Origins:
    """The origins and hosts that are allowed. With `local_only`, only hosts of this machine."""

    __slots__ = ("_allowed", "_hosts", "_local_only", "_nodes", "any")

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        local_only: bool = False,
        nodes: Collection[str] = frozenset(),
    ) -> None:
        """`nodes` has the origins of the other nodes, whose pages are the same; it may change."""
        self._nodes = nodes
        self._allowed = frozenset(allowed)
        self._hosts = {_host_of(urlsplit(origin).netloc) for origin in self._allowed} - {None}
        self._local_only = local_only
        self.any = "*" in self._allowed
        """Whether pages of every origin are allowed."""

    def names(self, origin: str) -> bool:
        """Whether the settings name this origin, or it is that of another node."""
        return self.any or origin in self._allowed or origin in self._nodes

    def take(self, origins: Sequence[str], hosts: Sequence[str]) -> bool:
        """Whether a request with these `Origin` and `Host` headers is allowed."""
        if not origins:
            return True
        if len(origins) > 1:
            return False
        if self.names(origins[0]):
            return True
        return len(hosts) == 1 and _same_place(origins[0], hosts[0])

    def answer_to(self, hosts: Sequence[str]) -> bool:
        """Whether the server answers to the name in the `Host` header."""
        if not self._local_only:
            return True
        name = _host_of(hosts[0]) if len(hosts) == 1 else None
        return name is not None and (name in self._hosts or _is_own(name))


def _is_own(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.rstrip(".").rpartition(".")[2] in _OWN_NAMES


def _host_of(authority: str) -> str | None:
    """The name in a `Host` header, in lower case; None when there is none."""
    try:
        parts = urlsplit(f"//{authority}")
        _ = parts.port
        return parts.hostname
    except ValueError:
        return None


def _same_place(origin: str, host: str) -> bool:
    try:
        theirs = urlsplit(origin)
        ours = urlsplit(f"//{host}")
        default = _DEFAULT_PORTS.get(theirs.scheme)
        return (
            default is not None
            and bool(theirs.hostname)
            and theirs.hostname == ours.hostname
            and (theirs.port or default) == (ours.port or default)
        )
    except ValueError:
        return False
