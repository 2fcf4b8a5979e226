"""The one writer: queued writes are gathered and committed together.

A sync of the disk costs the same for one write and for a hundred. While one batch is committed the
next one gathers, so under load many callers share a sync and at rest nobody waits for company.

Writes that `can_wait`, those of jobs, let the others go first, once: people who spin wait for what
is being committed, and not for a morning's offers as well.

Nothing here is ever cancelled half way. A caller whose write is queued learns how it ended, and the
writer leaves only when it is closed and has nothing left to do.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import msgspec
import trio

from yoked_actor.store.engine.errors import DatabaseCorrupt, StoreError, StoreUnavailable, explain
from yoked_actor.store.engine.runners import Runner
from yoked_actor.store.engine.transaction import Tx

T = TypeVar("T")


class Batch(msgspec.Struct, frozen=True):
    """What an observer is told of one transaction."""

    writes: int
    seconds: float
    """From handing it to the runner until it came back; waiting for a thread is in it."""
    error: Exception | None
    """Why all of it was rolled back."""


class _Write(Generic[T]):
    __slots__ = ("apply", "atomic", "can_wait", "done", "error", "result", "task")

    def __init__(self, apply: Callable[[Tx], T], atomic: bool, can_wait: bool) -> None:
        self.apply = apply
        self.atomic = atomic
        self.can_wait = can_wait
        self.done = False
        self.error: Exception | None = None
        self.result: T | None = None
        self.task: trio.lowlevel.Task | None = None

    def finish(self) -> None:
        self.done = True
        if self.task is not None:
            trio.lowlevel.reschedule(self.task)


class Writer:
    """Owns the writing connection while it runs."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        runner: Runner,
        *,
        max_pending: int,
        max_batch: int,
        observer: Callable[[Batch], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        """`check` raises when what is written would be lost."""
        self._check = check or (lambda: None)
        self._connection = connection
        self._runner = runner
        self._max_batch = max_batch
        self._observer = observer
        self._queue, self._arrivals = trio.open_memory_channel[_Write[Any]](max_pending)
        self._passed_over: list[_Write[Any]] = []
        self._finished = trio.Event()

    @property
    def pending(self) -> int:
        """How many writes wait for their commit to begin."""
        return self._queue.statistics().current_buffer_used + len(self._passed_over)

    async def write(
        self,
        apply: Callable[[Tx], T],
        *,
        atomic: bool = False,
        can_wait: bool = False,
    ) -> T:
        """Run `apply` in one transaction with whatever else is queued; durable on return.

        `atomic`: `apply` runs one statement, which needs no transaction or savepoint of its own. It
        may be cancelled while the queue is full, and not after that.
        """
        write = _Write(apply, atomic, can_wait)
        try:
            try:
                self._queue.send_nowait(write)
            except trio.WouldBlock:
                await self._queue.send(write)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise StoreError("the store is closed") from None
        if not write.done:
            write.task = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(_stay)
        if write.error is not None:
            raise write.error
        return cast("T", write.result)

    async def run(self) -> None:
        """Commit batch after batch until closed."""
        batch: list[_Write[Any]] = []
        with trio.CancelScope(shield=True):
            try:
                while batch := await self._next():
                    await self._commit(batch)
                    batch = []
            finally:
                # Only a mistake of ours gets here with writes left: nobody may wait for ever.
                batch += self._passed_over
                self._gather(batch, None)
                self._arrivals.close()
                for write in batch:
                    write.error = StoreError("the writer of the store has failed")
                    write.finish()
                self._finished.set()

    async def aclose(self) -> None:
        """Take no more writes, and wait until those that were taken are done."""
        self._queue.close()
        with trio.CancelScope(shield=True):
            await self._finished.wait()

    async def _next(self) -> list[_Write[Any]]:
        """What is committed next; nothing when there will be nothing any more."""
        waited, self._passed_over = self._passed_over, []
        batch = list(waited)
        if not batch:
            try:
                batch.append(await self._arrivals.receive())
            except trio.EndOfChannel:
                return []
        self._gather(batch, self._max_batch)
        hurried = [write for write in batch if not write.can_wait]
        if not hurried:
            return batch
        # One that was passed over has its turn now: nobody waits for ever.
        self._passed_over = [write for write in batch if write.can_wait][len(waited[:1]) :]
        return hurried + waited[:1]

    def _gather(self, batch: list[_Write[Any]], limit: int | None) -> None:
        while limit is None or len(batch) < limit:
            try:
                batch.append(self._arrivals.receive_nowait())
            except (trio.WouldBlock, trio.EndOfChannel):
                return

    async def _commit(self, batch: list[_Write[Any]]) -> None:
        began = trio.current_time()
        error = await self._runner.run(lambda: _apply(self._connection, batch, self._check))
        if self._observer is not None:
            self._observer(Batch(len(batch), trio.current_time() - began, error))
        for write in batch:
            if error is not None:
                write.error = explain(error)  # each its own: an error collects its tracebacks
            write.finish()


def _stay(_: object) -> trio.lowlevel.Abort:
    """A write under way does not know how it will end: its caller stays for the answer."""
    return trio.lowlevel.Abort.FAILED


def _apply(
    connection: sqlite3.Connection, batch: list[_Write[Any]], check: Callable[[], None]
) -> Exception | None:
    """Commit a batch; the error, when all of it had to be rolled back, or is lost."""
    try:
        check()
        if len(batch) == 1 and batch[0].atomic:
            _apply_one(connection, batch[0])
            check()
            return None
        connection.execute("BEGIN IMMEDIATE")
        for write in batch:
            if write.atomic:
                _apply_one(connection, write)
            else:
                _apply_in_savepoint(connection, write)
        check()
        connection.execute("COMMIT")
        check()
    except Exception as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return error
    return None


def _apply_in_savepoint(connection: sqlite3.Connection, write: _Write[Any]) -> None:
    connection.execute("SAVEPOINT one")
    _apply_one(connection, write)
    if write.error is not None:
        connection.execute("ROLLBACK TO one")
    connection.execute("RELEASE one")


def _apply_one(connection: sqlite3.Connection, write: _Write[Any]) -> None:
    """Run one write. What is its own fault is kept for it; what is the database's is raised."""
    try:
        write.result = write.apply(connection)
    except Exception as error:
        explained = explain(error)
        if isinstance(explained, StoreUnavailable | DatabaseCorrupt):
            raise
        write.error = explained
