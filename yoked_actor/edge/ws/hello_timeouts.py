"""Clients that have connected and not sent a message yet, and the task that times them out.

The server's time to answer the first message is bounded elsewhere.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Protocol

import trio


class AwaitingHello(Protocol):
    """A connection without a message so far."""

    def hello_timed_out(self) -> None:
        """Close the connection: no message came in time. Must not block or raise."""


class HelloTimeouts:
    """The connections without a message. All have the same time-out: due in order of arrival."""

    def __init__(self, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        # By trio's clock, which does not change when the time of day is set.
        self._due_s: dict[AwaitingHello, float] = {}
        self._arrived = trio.Event()

    def __len__(self) -> int:
        return len(self._due_s)

    def expect(self, connection: AwaitingHello) -> None:
        """Start the time-out of a client."""
        self._due_s[connection] = trio.current_time() + self._timeout_s
        self._arrived.set()

    def forget(self, connection: AwaitingHello) -> None:
        """A client has sent a message, or has ended. Does nothing if it is not known."""
        self._due_s.pop(connection, None)

    async def run(self) -> None:
        """Close connections that are due. Runs until cancelled."""
        while True:
            while not self._due_s:
                self._arrived = trio.Event()
                await self._arrived.wait()
            await trio.sleep_until(next(iter(self._due_s.values())))
            # After a stall of the process a hello may be in the socket. One pass of the event loop
            # lets every connection read it first, and leave this dictionary.
            await trio.lowlevel.checkpoint()
            # All that are due in one pass: in a flood, a pass can take long.
            for connection in self._take_due(trio.current_time()):
                connection.hello_timed_out()

    def _take_due(self, now_s: float) -> list[AwaitingHello]:
        due = [one for one, _ in takewhile(lambda entry: entry[1] <= now_s, self._due_s.items())]
        for connection in due:
            del self._due_s[connection]
        return due
