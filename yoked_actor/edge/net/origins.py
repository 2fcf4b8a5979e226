"""Which pages may speak to the server, and by which names it is called.

A browser sends the origin of the page with what the page asks for. A page of the server itself may
ask anything, and so may pages of the origins that the settings name. A client that sends no origin
is not a browser: nobody's address can be borrowed by it.

With `--dev` anybody can be anybody, so only names of the machine itself are answered. Otherwise a
page of another site could have its own name changed to 127.0.0.1 (DNS rebinding), and would then
be a page of this server.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from urllib.parse import urlsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
# Reserved by RFC 6761: these lead to the machine itself, or nowhere, and nobody can register them.
_OWN_NAMES = ("localhost", "test")


class Origins:
    """The origins and hosts that are taken. With `local_only`, only hosts of this machine."""

    __slots__ = ("_allowed", "_hosts", "_local_only", "any")

    def __init__(self, allowed: Iterable[str] = (), *, local_only: bool = False) -> None:
        self._allowed = frozenset(allowed)
        self._hosts = {_host_of(urlsplit(origin).netloc) for origin in self._allowed} - {None}
        self._local_only = local_only
        self.any = "*" in self._allowed
        """Whether pages of every site may speak to the server."""

    def names(self, origin: str) -> bool:
        """Whether the settings name this origin."""
        return self.any or origin in self._allowed

    def take(self, origins: Sequence[str], hosts: Sequence[str]) -> bool:
        """Whether a request may be made, by its `Origin` and `Host` headers."""
        if not origins:
            return True
        if len(origins) > 1:
            return False
        if self.names(origins[0]):
            return True
        return len(hosts) == 1 and _same_place(origins[0], hosts[0])

    def answer_to(self, hosts: Sequence[str]) -> bool:
        """Whether the server is called by a name that it answers to."""
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
    """The name in a `Host` header, in small letters; None when there is none."""
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
