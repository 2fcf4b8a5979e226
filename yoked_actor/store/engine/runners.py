"""Where blocking database calls run: on a worker thread, or inline on the event loop's thread.

A thread keeps the event loop responsive while the disk syncs. Inline is for mock clocks, which
would jump while a thread works, and for machines where a thread costs more than the sync.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import trio

T = TypeVar("T")


class Runner(Protocol):
    """Runs blocking calls one at a time, in the order of the calls."""

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn`, and return or raise what it does.

        Checkpoints. Can be cancelled until `fn` begins; then `fn` is finished.
        """
        ...

    def beside(self) -> Runner:
        """A runner whose calls run in parallel to this one's; itself if that is not possible."""
        ...


class ThreadRunner:
    """Runs calls on a worker thread."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(1)

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn` on a thread.

        Checkpoints. Can be cancelled while it waits for its turn. A call that has begun is waited
        for even when cancelled, and its result is returned.
        """
        return await trio.to_thread.run_sync(fn, limiter=self._limiter)

    def beside(self) -> ThreadRunner:
        """A runner with another thread."""
        return ThreadRunner()


class InlineRunner:
    """Runs calls on the event loop's own thread."""

    async def run(self, fn: Callable[[], T]) -> T:
        """Checkpoint, then call `fn`. A cancellation at the checkpoint prevents the call."""
        await trio.lowlevel.checkpoint()
        return fn()

    def beside(self) -> InlineRunner:
        """Itself: there is only one thread."""
        return self
