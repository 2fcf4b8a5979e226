"""Writes that come one by one are committed by the task of their caller, with the same promises."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from yoked_actor.store import Batch, StoreError, ThreadRunner, Tx
from yoked_actor.store.engine import SqliteTransactions, Writer


class SlowDisk:
    """Transactions that wait, on their thread, until the test lets them go on."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.execute("CREATE TABLE seen (n INTEGER UNIQUE) STRICT")
        self._transactions = SqliteTransactions(self.connection)
        self.no_transaction = self._transactions.no_transaction
        self.began, self.may_end = threading.Event(), threading.Event()
        self.may_end.set()

    def commit(self, batch, /):
        self.began.set()
        self.may_end.wait()
        return self._transactions.commit(batch)

    def resolve(self):
        return None

    async def until_begun(self) -> None:
        await trio.to_thread.run_sync(self.began.wait)

    @property
    def stored(self) -> list[int]:
        """In the order of the writes."""
        return [n for (n,) in self.connection.execute("SELECT n FROM seen ORDER BY rowid")]


@pytest.fixture
def disk() -> Iterator[SlowDisk]:
    disk = SlowDisk()
    yield disk
    disk.connection.close()


def inserting(n: int):
    def apply(tx: Tx) -> int:
        tx.execute("INSERT INTO seen VALUES (?)", (n,))
        return n

    return apply


@asynccontextmanager
async def running(disk: SlowDisk, sizes: list[int] | None = None) -> AsyncIterator[Writer]:
    def observe(batch: Batch) -> None:
        if sizes is not None:
            sizes.append(batch.writes)

    writer = Writer(disk, ThreadRunner(), max_pending=99, max_batch=99, observer=observe)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        await trio.testing.wait_all_tasks_blocked()
        yield writer
        await writer.aclose()


async def test_writes_during_such_a_commit_share_the_next_one_in_order(disk: SlowDisk) -> None:
    sizes: list[int] = []
    disk.may_end.clear()
    results: list[int] = []

    async def write(n: int) -> None:
        results.append(await writer.write(inserting(n)))

    async with running(disk, sizes) as writer, trio.open_nursery() as callers:
        callers.start_soon(write, 1)
        await disk.until_begun()
        for n in (2, 3, 4):
            callers.start_soon(write, n)
            await trio.testing.wait_all_tasks_blocked()
        assert results == []
        disk.may_end.set()
    assert sizes == [1, 3]
    assert sorted(results) == [1, 2, 3, 4]
    assert disk.stored == [1, 2, 3, 4]


async def test_writes_that_come_together_again_and_again_share_commits(disk: SlowDisk) -> None:
    sizes: list[int] = []
    async with running(disk, sizes) as writer:
        for n in (0, 2, 4):
            async with trio.open_nursery() as callers:
                callers.start_soon(writer.write, inserting(n))
                callers.start_soon(writer.write, inserting(n + 1))
        for n in (6, 7):
            await writer.write(inserting(n))
    assert sizes == [1, 1, 2, 2, 1, 1]
    assert sorted(disk.stored) == list(range(8))


async def test_a_caller_cancelled_meanwhile_learns_how_its_write_ended(disk: SlowDisk) -> None:
    disk.may_end.clear()
    learned: list[int] = []
    scope = trio.CancelScope()

    async def write() -> None:
        with scope:
            learned.append(await writer.write(inserting(1)))
            await trio.sleep_forever()  # the cancellation is delivered here, after the write

    async with running(disk) as writer, trio.open_nursery() as callers:
        callers.start_soon(write)
        await disk.until_begun()
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert learned == []
        disk.may_end.set()
    assert scope.cancelled_caught
    assert learned == [1]
    assert disk.stored == [1]


async def test_a_caller_that_is_cancelled_already_writes_nevertheless(disk: SlowDisk) -> None:
    async with running(disk) as writer:
        with trio.CancelScope() as scope:
            scope.cancel()
            assert await writer.write(inserting(1)) == 1
        assert await writer.write(inserting(2)) == 2
    assert disk.stored == [1, 2]


async def test_closing_waits_for_such_a_commit(disk: SlowDisk) -> None:
    disk.may_end.clear()
    closed = trio.Event()

    async def close() -> None:
        await writer.aclose()
        closed.set()

    async with running(disk) as writer, trio.open_nursery() as callers:
        callers.start_soon(writer.write, inserting(1))
        await disk.until_begun()
        callers.start_soon(close)
        await trio.testing.wait_all_tasks_blocked()
        assert not closed.is_set()
        with pytest.raises(StoreError, match="closed"):
            await writer.write(inserting(2))
        disk.may_end.set()
    assert closed.is_set()
    assert disk.stored == [1]


async def test_a_refused_write_is_raised_and_the_next_one_is_stored(disk: SlowDisk) -> None:
    async with running(disk) as writer:
        await writer.write(inserting(1))
        with pytest.raises(StoreError):
            await writer.write(inserting(1))
        await writer.write(inserting(2))
    assert disk.stored == [1, 2]


async def test_a_mistake_in_such_a_commit_ends_the_writer(disk: SlowDisk) -> None:
    def fail(_: Batch) -> None:
        raise RuntimeError("a mistake of ours")

    writer = Writer(disk, ThreadRunner(), max_pending=9, max_batch=9, observer=fail)
    disk.may_end.clear()
    told: list[str] = []

    async def write(n: int) -> None:
        with pytest.raises(StoreError) as caught:
            await writer.write(inserting(n))
        told.append(str(caught.value))

    async def run() -> None:
        with pytest.raises(RuntimeError):
            await writer.run()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(write, 1)
        await disk.until_begun()
        nursery.start_soon(write, 2)
        await trio.testing.wait_all_tasks_blocked()
        disk.may_end.set()
    assert told == ["the writer of the store has failed"] * 2
    with pytest.raises(StoreError, match="closed"):
        await writer.write(inserting(9))
