"""The writer: one task that commits queued writes together.

A sync of the disk costs the same for one write and for a hundred. While one batch is committed the
next one queues up, so under load many callers share a sync, and at rest a write is not delayed: as
long as the writes come one by one, the caller's own task commits them, which saves two rounds of
the event loop for each.

Writes that `can_wait`, which are those of jobs, let the others go first, once: a spin waits for the
commit in progress, and not for a morning's offers as well. And they wait one round of the event
loop for each other, so that the outcomes of jobs and the next claim share a commit.

Of `large` writes, a transaction has one: spins, and other processes, wait for its end.

No commit is cancelled halfway. The caller of a queued write always learns how it ended, and the
writer's task ends only when the writer is closed and its queue is empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from threading import Event
from typing import Any, TypeVar, cast

import trio

from yoked_actor.store.engine.errors import (
    CommitInDoubt,
    StoreError,
    StoreUnavailable,
    explain,
)
from yoked_actor.store.engine.runners import Runner, ThreadRunner
from yoked_actor.store.engine.transaction import Tx
from yoked_actor.store.engine.turns import Turn
from yoked_actor.store.engine.writes import Batch, Transactions, Write

T = TypeVar("T")
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 1.0
_CLOSING_S = 5.0
"""How long a closed writer tries to learn what became of its last batch."""


class Writer:
    """Owns the writing connection while it runs."""

    def __init__(
        self,
        transactions: Transactions,
        runner: Runner,
        *,
        max_pending: int,
        max_batch: int,
        observer: Callable[[Batch], None] | None = None,
    ) -> None:
        self._transactions = transactions
        self._runner = runner
        self._max_batch = max_batch
        self._observer = observer
        self._queue, self._arrivals = trio.open_memory_channel[Write[Any]](max_pending)
        self._passed_over: list[Write[Any]] = []
        self._finished = trio.Event()
        self._closed_at = math.inf
        # A call of another runner yields before it begins, and could be cancelled there.
        self._thread = runner if isinstance(runner, ThreadRunner) else None
        self._is_waiting = False
        """Whether the writer's task waits, and nothing is queued for it."""
        self._is_caller_committing = False
        self._caller_committed = trio.lowlevel.ParkingLot()
        self._come_together = False
        """Whether the last write that was queued came after another one that was not committed."""
        self._failure: BaseException | None = None

    @property
    def pending(self) -> int:
        """How many writes are queued; those of the commit in progress are not counted."""
        return self._queue.statistics().current_buffer_used + len(self._passed_over)

    @property
    def no_transaction(self) -> Event:
        """Not set during a transaction that needs the interpreter lock. For every thread."""
        return self._transactions.no_transaction

    async def write(
        self,
        apply: Callable[[Tx], T],
        *,
        atomic: bool = False,
        can_wait: bool = False,
        large: bool = False,
        turn: Turn = Turn.ALONE,
    ) -> T:
        """Run `apply` in one transaction with the other queued writes; durable on return.

        `apply` runs once, in a savepoint: when it raises, its own changes are rolled back, the
        error is raised here, and the other writes are committed. When the database fails, all of
        the batch is rolled back and every caller gets `StoreUnavailable` or `DatabaseCorrupt`.
        `atomic`: `apply` runs one statement, and needs no savepoint. `can_wait`: other writes may
        go first, once. `large`: it shares its transaction with no other large one, if it can wait.
        `turn`: which writes of other processes may happen at the same time.

        Always yields to the scheduler. Can be cancelled only while the queue is full: then nothing
        is written. Once the write is queued the call returns or raises what became of it, and a
        cancellation is delivered at the caller's next checkpoint.
        """
        write = Write(apply, atomic, can_wait, turn, large)
        if self._is_alone():
            await self._commit_at_once(write)
            if write.error is not None:
                raise write.error
            return cast("T", write.result)
        try:
            try:
                self._queue.send_nowait(write)
                self._come_together = self._is_caller_committing or not self._is_waiting
                self._is_waiting = False
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
        batch: list[Write[Any]] = []
        with trio.CancelScope(shield=True):
            try:
                while batch := await self._next():
                    await self._commit(batch)
                    batch = []
                if self._failure is not None:
                    raise self._failure
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
        self._is_waiting = False
        self._closed_at = min(self._closed_at, trio.current_time())
        with trio.CancelScope(shield=True):
            await self._finished.wait()

    async def _next(self) -> list[Write[Any]]:
        """The next batch; empty when the writer is closed and its queue is empty."""
        waited, self._passed_over = self._passed_over, []
        batch = list(waited)
        if not batch:
            self._is_waiting = True
            try:
                batch.append(await self._arrivals.receive())
            except trio.EndOfChannel:
                pass
            finally:
                self._is_waiting = False
            while self._is_caller_committing:
                await self._caller_committed.park()
            if not batch:
                return []
        self._gather(batch, self._max_batch)
        if all(write.can_wait and not write.large for write in batch):
            # The callers of the last commit may be about to write again, and can share this one.
            await trio.lowlevel.checkpoint()
            self._gather(batch, self._max_batch)
        urgent = [write for write in batch if not write.can_wait]
        if not urgent:
            return self._without_further_large(batch)
        # A write that was passed over has its turn now, so none waits without end.
        self._passed_over = [write for write in batch if write.can_wait][len(waited[:1]) :]
        return urgent + waited[:1]

    def _without_further_large(self, batch: list[Write[Any]]) -> list[Write[Any]]:
        """A batch with its first large write; the next batches have the others."""
        large = [write for write in batch if write.large]
        if len(large) < 2:
            return batch
        self._passed_over = large[1:]
        return [write for write in batch if not write.large or write is large[0]]

    def _gather(self, batch: list[Write[Any]], limit: int | None) -> None:
        while limit is None or len(batch) < limit:
            try:
                batch.append(self._arrivals.receive_nowait())
            except (trio.WouldBlock, trio.EndOfChannel):
                return

    def _is_alone(self) -> bool:
        """Whether the caller of a write may commit it: nothing else is to be written.

        Writes that came together are likely to do so again, and are to share a commit.
        """
        return (
            self._is_waiting
            and not self._is_caller_committing
            and not self._come_together
            and self._thread is not None
            and self._thread.is_free
            and trio.current_effective_deadline() > -math.inf
        )

    async def _commit_at_once(self, write: Write[Any]) -> None:
        """Commit one write in the task of its caller."""
        self._is_caller_committing = True
        try:
            await self._commit([write])
        except BaseException as error:
            # As when the writer's own task fails: nothing can be written any more.
            self._failure = error
            self._queue.close()
            raise StoreError("the writer of the store has failed") from error
        finally:
            self._is_caller_committing = False
            self._caller_committed.unpark_all()

    async def _commit(self, batch: list[Write[Any]]) -> None:
        began = trio.current_time()
        error = await self._runner.run(lambda: self._transactions.commit(batch))
        if isinstance(error, CommitInDoubt):
            with trio.CancelScope(shield=True):
                error = await self._resolve(error)
        if self._observer is not None:
            self._observer(Batch(len(batch), trio.current_time() - began, error))
        for write in batch:
            if error is not None:
                write.error = explain(error)  # one for each caller: an error collects tracebacks
            write.finish()

    async def _resolve(self, error: Exception) -> Exception | None:
        """Find out what became of a batch. No caller is told anything before."""
        found: Exception | None = error
        pause_s = _FIRST_PAUSE_S
        while isinstance(found, CommitInDoubt):
            if trio.current_time() > self._closed_at + _CLOSING_S:
                return StoreUnavailable(f"the store was closed, and {found}")
            await trio.sleep(pause_s)
            pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
            found = await self._runner.run(self._transactions.resolve)
        return found


def _refuse_cancel(_: object) -> trio.lowlevel.Abort:
    """Refuse the cancellation: the caller has to learn how the write ended."""
    return trio.lowlevel.Abort.FAILED
