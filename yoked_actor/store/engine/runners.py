"""Where blocking database calls run: on a worker thread, or inline on the event loop's thread.

A thread keeps the event loop responsive while the disk syncs. Inline is for mock clocks, which
would jump while a thread works, and for machines where a thread costs more than the sync.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar, cast

import trio

from yoked_actor.store.engine.stepping import going_on

T = TypeVar("T")
_IDLE_S = 10.0
"""After so long without a call the thread ends; the next call starts another."""


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


class _Call:
    """A call, and what it returned or raised."""

    __slots__ = ("error", "fn", "is_done", "result")

    def __init__(self, fn: Callable[[], Any]) -> None:
        self.fn = fn
        self.is_done = False
        self.result: Any = None
        self.error: BaseException | None = None


class _Pipe:
    """A pipe: a thread writes to it, and a task waits until it can be read.

    `TrioToken.run_sync_soon` has a pipe as well, but wakes a task of trio first, which then wakes
    the caller: that takes twice the time, and one more round of the event loop.
    """

    __slots__ = ("_reading", "_writing")

    def __init__(self) -> None:
        self._reading, self._writing = os.pipe()

    def wake(self) -> None:
        """Wake the task that waits, or that will wait next."""
        os.write(self._writing, b"!")

    async def wait(self) -> None:
        """Wait until woken. One task at a time. Checkpoints."""
        await trio.lowlevel.wait_readable(self._reading)
        os.read(self._reading, 1)

    async def wait_after(self, begin: Callable[[], None]) -> None:
        """Call `begin`, which lets a thread work, then wait until woken. Checkpoints.

        The task waits before the thread works: to register the pipe with epoll takes system calls,
        and the two would fight for the interpreter lock.
        """
        waiting = self.wait()
        trap = waiting.send(None)
        begin()
        await going_on(waiting, trap)

    def close(self) -> None:
        """Close the pipe: nobody waits any more."""
        os.close(self._reading)
        os.close(self._writing)


class ThreadRunner:
    """Runs calls on a thread of its own, which ends when it has had nothing to do for a while.

    `trio.to_thread` would do, and takes twice the time: it looks for a free thread, names it, and
    lets its caller wait for a limiter. A commit is one such call.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._starting = Lock()
        self._pipe: _Pipe | None = None
        """The thread's; there is one while there is a thread."""
        self._is_busy = False
        self._waiting = trio.lowlevel.ParkingLot()

    @property
    def is_free(self) -> bool:
        """Whether a call would begin at once, so that it can be cancelled only before."""
        return not self._is_busy

    async def run(self, fn: Callable[[], T]) -> T:
        """Call `fn` on the thread.

        Checkpoints. Can be cancelled while it waits for its turn. A call that has begun is waited
        for even when cancelled, and its result is returned.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._is_busy:
            await self._waiting.park()  # the call before it leaves the thread to it
        self._is_busy = True
        call = _Call(fn)
        try:
            pipe = self._prepare()
            await _until_done(call, pipe, lambda: self._calls.put(call))
        finally:
            self._release()
        if call.error is not None:
            try:
                raise call.error
            finally:
                call.error = None  # otherwise the traceback and the call would refer to each other
        return cast("T", call.result)

    def beside(self) -> ThreadRunner:
        """A runner with another thread."""
        return ThreadRunner()

    def _prepare(self) -> _Pipe:
        """The pipe of the thread, which is started if there is none. It does not end meanwhile."""
        with self._starting:
            pipe = self._pipe
            if pipe is None:
                pipe = _Pipe()
                Thread(target=self._work, args=(pipe,), name="store", daemon=True).start()
                self._pipe = pipe
        return pipe

    def _work(self, pipe: _Pipe) -> None:
        while True:
            try:
                call = self._calls.get(timeout=_IDLE_S)
            except Empty:
                with self._starting:
                    # The caller of the last call may not have seen yet that it is done.
                    if self._calls.empty() and not self._is_busy:
                        self._pipe = None
                        pipe.close()
                        return
                continue
            try:
                call.result = call.fn()
            except BaseException as error:
                call.error = error
            call.is_done = True
            pipe.wake()
            del call

    def _release(self) -> None:
        """Leave the thread to the next call."""
        if self._waiting:
            self._waiting.unpark()
        else:
            self._is_busy = False


class InlineRunner:
    """Runs calls on the event loop's own thread."""

    async def run(self, fn: Callable[[], T]) -> T:
        """Checkpoint, then call `fn`. A cancellation at the checkpoint prevents the call."""
        await trio.lowlevel.checkpoint()
        return fn()

    def beside(self) -> InlineRunner:
        """Itself: there is only one thread."""
        return self


async def _until_done(call: _Call, pipe: _Pipe, begin: Callable[[], None]) -> None:
    """Begin a call, and wait for it even when cancelled."""
    try:
        await pipe.wait_after(begin)
    except trio.Cancelled:
        pass  # it is raised again at the caller's next checkpoint
    # Otherwise only if cancelled, or if an earlier event loop has ended during a call.
    while not call.is_done:
        with trio.CancelScope(shield=True):
            await pipe.wait()
