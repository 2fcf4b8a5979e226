"""A byte pipe to one client, until its first request is answered."""

from __future__ import annotations

from typing import Protocol

import trio

RECEIVE_BYTES = 16 * 1024


class Transport(Protocol):
    """A new connection. Only `receive` waits."""

    async def receive(self) -> bytes:
        """The next bytes; empty at the end of the connection, also when it has broken."""
        ...

    def push(self, frames: list[bytes]) -> None:
        """Send bytes, in order; never blocks, never raises."""

    def push_eof(self, *, close: bool = False) -> None:
        """Half-close, or close, after everything is sent; later pushes are dropped."""

    def abort(self) -> None:
        """Close at once; bytes that are not in the kernel or stream yet are lost."""

    def detach(self) -> trio.abc.Stream:
        """Hand the pipe over as a plain stream; the transport is dead afterwards."""
        ...
