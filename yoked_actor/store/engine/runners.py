"""Where blocking database calls run: on a worker thread, or inline on the event loop's thread.

A thread keeps the event loop responsive while the disk syncs. Inline is for mock clocks, which
would jump while a thread works, and for machines where a thread costs more than the sync.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Protocol, TypeVar, cast

import trio

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

    __slots__ = ("error", "fn", "result", "task", "token")

    def __init__(self, fn: Callable[[], Any]) -> None:
        self.fn = fn
        self.result: Any = None
        self.error: BaseException | None = None
        self.task = trio.lowlevel.current_task()
        self.token = trio.lowlevel.current_trio_token()


class ThreadRunner:
    """Runs calls on a thread of its own, which ends when it has had nothing to do for a while.

    `trio.to_thread` would do, and takes twice the time: it looks for a free thread, names it, and
    lets its caller wait for a limiter. A commit is one such call.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[_Call] = SimpleQueue()
        self._starting = Lock()
        self._has_thread = False
        self._is_busy = False
        self._waiting = trio.lowlevel.ParkingLot()

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
            self._submit(call)
        except BaseException:
            self._release()
            raise
        await trio.lowlevel.wait_task_rescheduled(_refuse_cancel)
        if call.error is not None:
            try:
                raise call.error
            finally:
                call.error = None  # otherwise the traceback and the call would refer to each other
        return cast("T", call.result)

    def beside(self) -> ThreadRunner:
        """A runner with another thread."""
        return ThreadRunner()

    def _submit(self, call: _Call) -> None:
        with self._starting:
            if not self._has_thread:
                Thread(target=self._work, name="store", daemon=True).start()
                self._has_thread = True
            self._calls.put(call)

    def _work(self) -> None:
        while True:
            try:
                call = self._calls.get(timeout=_IDLE_S)
            except Empty:
                with self._starting:
                    if self._calls.empty():
                        self._has_thread = False
                        return
                continue
            try:
                call.result = call.fn()
            except BaseException as error:
                call.error = error
            with suppress(trio.RunFinishedError):
                call.token.run_sync_soon(self._finish, call.task)
            del call

    def _finish(self, task: trio.lowlevel.Task) -> None:
        self._release()
        trio.lowlevel.reschedule(task)

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


def _refuse_cancel(_: object) -> trio.lowlevel.Abort:
    """Refuse the cancellation: a call that has begun is waited for."""
    return trio.lowlevel.Abort.FAILED
