"""The writer: one task that commits queued writes together.

A sync of the disk costs the same for one write and for a hundred. While one batch is committed the
next one queues up, so under load many callers share a sync, and at rest a write is not delayed.

Writes that `can_wait`, which are those of jobs, let the others go first, once: a spin waits for the
commit in progress, and not for a morning's offers as well.

No commit is cancelled halfway. The caller of a queued write always learns how it ended, and the
writer's task ends only when the writer is closed and its queue is empty.
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
from yoked_actor.store.engine.write_turns import WriteTurns

T = TypeVar("T")


class Batch(msgspec.Struct, frozen=True):
    """One transaction, for the observer."""

    writes: int
    seconds: float
    """From the call of the runner until its return; waiting for a thread is included."""
    error: Exception | None
    """Why the whole transaction was rolled back."""


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
        turns: WriteTurns | None = None,
    ) -> None:
        """`check` raises when a write would be lost: it is called before and after each commit.

        `turns` are those of the processes that share the database.
        """
        self._check = check or (lambda: None)
        self._turns = turns or WriteTurns(None, patience_s=0.0)
        self._connection = connection
        self._runner = runner
        self._max_batch = max_batch
        self._observer = observer
        self._queue, self._arrivals = trio.open_memory_channel[_Write[Any]](max_pending)
        self._passed_over: list[_Write[Any]] = []
        self._finished = trio.Event()

    @property
    def pending(self) -> int:
        """How many writes are queued; those of the commit in progress are not counted."""
        return self._queue.statistics().current_buffer_used + len(self._passed_over)

    async def write(
        self,
        apply: Callable[[Tx], T],
        *,
        atomic: bool = False,
        can_wait: bool = False,
    ) -> T:
        """Run `apply` in one transaction with the other queued writes; durable on return.

        `apply` runs once, in a savepoint: when it raises, its own changes are rolled back, the
        error is raised here, and the other writes are committed. When the database fails, all of
        the batch is rolled back and every caller gets `StoreUnavailable` or `DatabaseCorrupt`.
        `atomic`: `apply` runs one statement, and needs no savepoint. `can_wait`: other writes may
        go first, once.

        Always yields to the scheduler. Can be cancelled only while the queue is full: then nothing
        is written. Once the write is queued the call returns or raises what became of it, and a
        cancellation is delivered at the caller's next checkpoint.
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
            await trio.lowlevel.wait_task_rescheduled(_refuse_cancel)
        if write.error is not None:
            raise write.error
        return cast("T", write.result)

    async def run(self) -> None:
        """Commit batch after batch until closed. Is shielded from cancellation: call `aclose`."""
        batch: list[_Write[Any]] = []
        with trio.CancelScope(shield=True):
            try:
                while batch := await self._next():
                    await self._commit(batch)
                    batch = []
            finally:
                # Writes are left only after an internal error; their callers must not wait.
                batch += self._passed_over
                self._gather(batch, None)
                self._arrivals.close()
                for write in batch:
                    write.error = StoreError("the writer of the store has failed")
                    write.finish()
                self._finished.set()

    async def aclose(self) -> None:
        """Refuse further writes with `StoreError`, and wait until the queued ones are done.

        Checkpoints, and is shielded from cancellation.
        """
        self._queue.close()
        with trio.CancelScope(shield=True):
            await self._finished.wait()

    async def _next(self) -> list[_Write[Any]]:
        """The next batch; empty when the writer is closed and its queue is empty."""
        waited, self._passed_over = self._passed_over, []
        batch = list(waited)
        if not batch:
            try:
                batch.append(await self._arrivals.receive())
            except trio.EndOfChannel:
                return []
        self._gather(batch, self._max_batch)
        urgent = [write for write in batch if not write.can_wait]
        if not urgent:
            return batch
        # A write that was passed over has its turn now, so none waits without end.
        self._passed_over = [write for write in batch if write.can_wait][len(waited[:1]) :]
        return urgent + waited[:1]

    def _gather(self, batch: list[_Write[Any]], limit: int | None) -> None:
        while limit is None or len(batch) < limit:
            try:
                batch.append(self._arrivals.receive_nowait())
            except (trio.WouldBlock, trio.EndOfChannel):
                return

    async def _commit(self, batch: list[_Write[Any]]) -> None:
        began = trio.current_time()
        error = await self._runner.run(lambda: self._apply_in_turn(batch))
        if self._observer is not None:
            self._observer(Batch(len(batch), trio.current_time() - began, error))
        for write in batch:
            if error is not None:
                write.error = explain(error)  # one for each caller: an error collects tracebacks
            write.finish()

    def _apply_in_turn(self, batch: list[_Write[Any]]) -> Exception | None:
        with self._turns.turn():
            return _apply(self._connection, batch, self._check)


def _refuse_cancel(_: object) -> trio.lowlevel.Abort:
    """Refuse the cancellation: the caller has to learn how the write ended."""
    return trio.lowlevel.Abort.FAILED


def _apply(
    connection: sqlite3.Connection, batch: list[_Write[Any]], check: Callable[[], None]
) -> Exception | None:
    """Commit a batch; returns the error when all of it was rolled back, or is lost."""
    try:
        check()
        if len(batch) == 1 and batch[0].atomic:
            _apply_one(connection, batch[0])
            check()
            return None
        connection.execute("BEGIN IMMEDIATE")
        for write in batch:
            if write.atomic or len(batch) == 1:
                _apply_one(connection, write)
            else:
                _apply_in_savepoint(connection, write)
        check()
        # The only write of a transaction has no savepoint of its own.
        is_refused = len(batch) == 1 and batch[0].error is not None
        connection.execute("ROLLBACK" if is_refused else "COMMIT")
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
    """Run one write. Its own error is stored in it; an error of the database is raised."""
    try:
        write.result = write.apply(connection)
    except Exception as error:
        explained = explain(error)
        if isinstance(explained, StoreUnavailable | DatabaseCorrupt):
            raise
        write.error = explained
