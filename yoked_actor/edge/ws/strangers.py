"""Clients that have connected and not said hello yet, and the one task that times them out.

A connection is a stranger until its first message has come. How long the server then takes to
answer is not the client's fault, and is bounded elsewhere.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Protocol

import trio


class Stranger(Protocol):
    """Who is expected to say something."""

    def run_out_of_time(self) -> None:
        """Hang up: nothing was said in time. Must not block or raise."""


class Strangers:
    """Knows who has said nothing yet. All have equally long: they are due in order of arrival."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        # By trio's clock: the time of day may be set while somebody has time left.
        self._due_s: dict[Stranger, float] = {}
        self._somebody_came = trio.Event()

    def __len__(self) -> int:
        return len(self._due_s)

    def expect(self, stranger: Stranger) -> None:
        """From now on, a client has its time to speak."""
        self._due_s[stranger] = trio.current_time() + self._patience_s
        self._somebody_came.set()

    def forget(self, stranger: Stranger) -> None:
        """A client has spoken, or is gone. Does nothing when that is known."""
        self._due_s.pop(stranger, None)

    async def run(self) -> None:
        """Hang up on clients that are due, all of them at once. Runs until cancelled."""
        while True:
            while not self._due_s:
                self._somebody_came = trio.Event()
                await self._somebody_came.wait()
            await trio.sleep_until(next(iter(self._due_s.values())))
            # After a stall of the process a hello may lie in the socket. One pass of the loop lets
            # every connection read first what has come; those that have spoken are not in here
            # any more.
            await trio.lowlevel.checkpoint()
            # All in one pass: in a flood, a pass can take long.
            for stranger in self._take_due(trio.current_time()):
                stranger.run_out_of_time()

    def _take_due(self, now_s: float) -> list[Stranger]:
        due = [one for one, _ in takewhile(lambda entry: entry[1] <= now_s, self._due_s.items())]
        for stranger in due:
            del self._due_s[stranger]
        return due
