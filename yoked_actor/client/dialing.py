"""How a client reaches its server: the address, and the function that opens byte streams."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import msgspec
import trio

Dial = Callable[[], Awaitable[trio.abc.Stream]]
"""Opens a new stream to the server."""
DialTo = Callable[["Address"], Dial]
"""Makes the `Dial` of an address."""


class Address(msgspec.Struct, frozen=True):
    """The address of a server."""

    host: str
    port: int
    secure: bool

    @classmethod
    def parse(cls, url: str) -> Address:
        """Parse `http://host:port`, `https://...`, `ws://...` or `wss://...`; a path is ignored."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https", "ws", "wss") or not parts.hostname:
            raise ValueError(f"{url or '(empty)'} is not an address such as http://127.0.0.1:8080")
        secure = parts.scheme in ("https", "wss")
        return cls(parts.hostname, parts.port or (443 if secure else 80), secure)

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        return f"{self.host}:{self.port}"

    def dial(self, ssl_context: ssl.SSLContext | None = None) -> Dial:
        """A function that opens streams to this address."""

        async def open_stream() -> trio.abc.Stream:
            stream = await trio.open_tcp_stream(self.host, self.port)
            if not self.secure:
                return stream
            context = ssl_context or ssl.create_default_context()
            return trio.SSLStream(stream, context, server_hostname=self.host, https_compatible=True)

        return open_stream
