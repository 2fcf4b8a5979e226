"""Where blocking database calls run: on a worker thread, or right here on the event loop's.

A thread keeps the loop free while the disk syncs. Inline is for mock clocks, which would jump while
a thread works, and for machines where a hop to a thread costs more than the sync.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import trio

T = TypeVar("T")


class Runner(Protocol):
    """Runs blocking calls, one at a time, in the order they came."""

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn` and give back what it returns or raises."""
        ...

    def beside(self) -> Runner:
        """A runner whose calls run beside this one's; this one, if there can be no such thing."""
        ...


class ThreadRunner:
    """Runs calls on a worker thread."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(1)

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn` on a thread; a call under way is waited for, even when cancelled."""
        return await trio.to_thread.run_sync(fn, limiter=self._limiter)

    def beside(self) -> ThreadRunner:
        """A second thread."""
        return ThreadRunner()


class InlineRunner:
    """Runs calls on the event loop's own thread."""

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn` here and now, after a checkpoint."""
        await trio.lowlevel.checkpoint()
        return fn()

    def beside(self) -> InlineRunner:
        """This one: there is one thread."""
        return self
