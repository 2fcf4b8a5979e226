"""The writer: writes share transactions, fail alone, and are never left half done."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
import trio.testing

from yoked_actor.domain.lobby import Changes, Seat
from yoked_actor.domain.people import Person
from yoked_actor.store import (
    Batch,
    InlineRunner,
    Runner,
    Store,
    StoreError,
    ThreadRunner,
    Tx,
    WriteRefused,
    open_store,
)
from yoked_actor.store.engine import SqliteTransactions, Writer

RUNNERS = [InlineRunner, ThreadRunner]


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE seen (n INTEGER PRIMARY KEY) STRICT")
    yield connection
    connection.close()


def numbers(connection: sqlite3.Connection) -> list[int]:
    return [n for (n,) in connection.execute("SELECT n FROM seen ORDER BY n")]


def inserting(*rows: int | str):
    """A write that adds rows one by one; a text, or a number that is there, is refused."""

    def apply(tx: Tx) -> int:
        for row in rows:
            tx.execute("INSERT INTO seen VALUES (?)", (row,))
        return sum(n for n in rows if isinstance(n, int))

    return apply


class Gate:
    """A runner that runs nothing until it is opened: a slow disk, under the test's control."""

    def __init__(self) -> None:
        self.opened = trio.Event()
        self.entered = trio.Event()

    async def run(self, fn):
        self.entered.set()
        await self.opened.wait()
        return fn()

    def beside(self) -> Gate:
        return self


@pytest.mark.parametrize("runner", RUNNERS)
async def test_fifty_commits_share_a_few_transactions(runner, tmp_path: Path) -> None:
    batches: list[Batch] = []
    async with open_store(tmp_path / "yoked.db", runner=runner(), observer=batches.append) as store:
        async with trio.open_nursery() as nursery:
            for n in range(50):
                nursery.start_soon(store.commit, Changes(seats=[Seat(f"u{n}", credit=n)]))
        seats = [(await store.load_user(f"u{n}")).seat for n in range(50)]
    assert seats == [Seat(f"u{n}", credit=n) for n in range(50)]
    assert sum(batch.writes for batch in batches) == 50
    assert len(batches) <= 5
    assert all(batch.error is None and batch.seconds >= 0 for batch in batches)


@pytest.mark.parametrize("runner", RUNNERS)
async def test_a_failing_write_does_not_harm_its_neighbours(
    runner: type[Runner], connection: sqlite3.Connection
) -> None:
    batches: list[Batch] = []
    refused: list[int] = []
    writer = Writer(
        SqliteTransactions(connection),
        runner(),
        max_pending=99,
        max_batch=99,
        observer=batches.append,
    )

    async def write(n: int) -> None:
        if n % 3:
            assert await writer.write(inserting(n)) == n
            return
        with pytest.raises(WriteRefused):
            await writer.write(inserting(1000 + n, "not a number"))
        refused.append(n)

    async with trio.open_nursery() as nursery:
        for n in range(30):
            nursery.start_soon(write, n)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(writer.run)
        await trio.testing.wait_all_tasks_blocked()
        await writer.aclose()
    assert [batch.writes for batch in batches] == [30]
    assert sorted(refused) == list(range(0, 30, 3))
    assert numbers(connection) == [n for n in range(30) if n % 3]


async def test_a_write_that_fails_alone_leaves_nothing(connection: sqlite3.Connection) -> None:
    writer = Writer(SqliteTransactions(connection), InlineRunner(), max_pending=9, max_batch=9)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        with pytest.raises(WriteRefused):
            await writer.write(inserting(1, "not a number"))
        with pytest.raises(ZeroDivisionError):
            await writer.write(lambda db: inserting(2)(db) // 0)
        await writer.write(inserting(3))
        await writer.aclose()
    assert numbers(connection) == [3]


async def test_a_batch_has_a_limit_and_keeps_the_order(connection: sqlite3.Connection) -> None:
    batches: list[Batch] = []
    order: list[int] = []
    writer = Writer(
        SqliteTransactions(connection),
        InlineRunner(),
        max_pending=99,
        max_batch=4,
        observer=batches.append,
    )

    async def write(n: int) -> None:
        await writer.write(lambda _: order.append(n))

    async with trio.open_nursery() as nursery:
        for n in range(10):
            nursery.start_soon(write, n)
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(writer.run)
        await trio.testing.wait_all_tasks_blocked()
        await writer.aclose()
    assert [batch.writes for batch in batches] == [4, 4, 2]
    assert order == list(range(10))


async def test_a_cancelled_caller_still_learns_how_its_write_ended(
    connection: sqlite3.Connection,
) -> None:
    gate = Gate()
    writer = Writer(SqliteTransactions(connection), gate, max_pending=9, max_batch=9)
    learned: list[int] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        scope = trio.CancelScope()

        async def write() -> None:
            with scope:
                learned.append(await writer.write(inserting(1, 2)))
                await trio.sleep_forever()  # the cancellation is delivered here, after the write

        nursery.start_soon(write)
        await gate.entered.wait()
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert learned == []
        gate.opened.set()
        await trio.testing.wait_all_tasks_blocked()
        await writer.aclose()
    assert learned == [3]
    assert numbers(connection) == [1, 2]


class SlowDisk:
    """A runner that takes a second of the mock clock for each transaction."""

    async def run(self, fn):
        await trio.sleep(1)
        return fn()

    def beside(self) -> SlowDisk:
        return self


def _on_a_slow_disk(connection: sqlite3.Connection) -> tuple[list[list[str]], Writer]:
    """A list of what each commit has, and the writer of the commits."""
    committed: list[list[str]] = [[]]
    writer = Writer(
        SqliteTransactions(connection),
        SlowDisk(),
        max_pending=99,
        max_batch=99,
        observer=lambda _: committed.append([]),
    )
    return committed, writer


async def test_what_can_wait_lets_others_go_first_and_has_its_turn(
    connection: sqlite3.Connection, autojump_clock
) -> None:
    committed, writer = _on_a_slow_disk(connection)

    async def write(name: str, at_s: float) -> None:
        await trio.sleep(at_s)
        await writer.write(lambda _: committed[-1].append(name), can_wait="job" in name)

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            nursery.start_soon(writer.run)
            for n in range(4):
                callers.start_soon(write, f"job {n}", 0.5 + n / 100)
            for at_s in (0, 0.6, 1.6, 2.6):
                callers.start_soon(write, f"spin at {at_s}", at_s)
        await writer.aclose()
    assert [sorted(batch) for batch in committed if batch] == [
        ["spin at 0"],
        ["spin at 0.6"],
        ["job 0", "spin at 1.6"],
        ["job 1", "spin at 2.6"],
        # Nobody else is there any more.
        ["job 2", "job 3"],
    ]


async def test_what_can_wait_shares_a_commit_with_what_follows_the_last_one(
    connection: sqlite3.Connection, autojump_clock
) -> None:
    """A claim that has returned is followed by the next, and outcomes are queued already."""
    committed, writer = _on_a_slow_disk(connection)

    async def write(name: str, at_s: float) -> None:
        await trio.sleep(at_s)
        for _ in range(3):
            await writer.write(lambda _: committed[-1].append(name), can_wait=True)

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            nursery.start_soon(writer.run)
            callers.start_soon(write, "claim", 0)
            callers.start_soon(write, "outcome", 0.5)
        await writer.aclose()
    assert [sorted(batch) for batch in committed if batch] == [
        ["claim"],
        ["claim", "outcome"],
        ["claim", "outcome"],
        ["outcome"],
    ]


async def test_large_writes_share_no_commit_and_keep_their_order(
    connection: sqlite3.Connection, autojump_clock
) -> None:
    committed, writer = _on_a_slow_disk(connection)

    async def write(name: str, at_s: float) -> None:
        await trio.sleep(at_s)
        await writer.write(
            lambda _: committed[-1].append(name), can_wait="spin" not in name, large="large" in name
        )

    async with trio.open_nursery() as nursery:
        async with trio.open_nursery() as callers:
            nursery.start_soon(writer.run)
            for n in range(5):
                callers.start_soon(write, f"large {n}", n / 100)
            callers.start_soon(write, "claim", 0.5)
            callers.start_soon(write, "spin", 1.5)
        await writer.aclose()
    assert [sorted(batch) for batch in committed if batch] == [
        ["large 0"],
        ["claim", "large 1"],
        ["large 2", "spin"],
        ["large 3"],
        ["large 4"],
    ]


async def test_a_caller_cancelled_before_there_is_room_writes_nothing(
    connection: sqlite3.Connection,
) -> None:
    gate = Gate()
    writer = Writer(SqliteTransactions(connection), gate, max_pending=1, max_batch=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        nursery.start_soon(writer.write, inserting(1))
        await gate.entered.wait()
        nursery.start_soon(writer.write, inserting(2))
        await trio.testing.wait_all_tasks_blocked()
        with trio.CancelScope() as scope:
            scope.cancel()
            await writer.write(inserting(3))
        assert scope.cancelled_caught
        gate.opened.set()
        await trio.testing.wait_all_tasks_blocked()
        await writer.aclose()
    assert numbers(connection) == [1, 2]


@pytest.mark.parametrize("runner", RUNNERS)
async def test_leaving_in_a_hurry_finishes_what_was_asked_for(runner, tmp_path: Path) -> None:
    finished: list[int] = []

    async def commit(store: Store, n: int) -> None:
        await store.commit(Changes(seats=[Seat(f"u{n}")]))
        finished.append(n)

    with trio.CancelScope() as scope:
        async with (
            open_store(tmp_path / "yoked.db", runner=runner(), max_batch=2) as store,
            trio.open_nursery() as nursery,
        ):
            for n in range(20):
                nursery.start_soon(commit, store, n)
            await trio.lowlevel.checkpoint()
            scope.cancel()
    async with open_store(tmp_path / "yoked.db", runner=runner()) as store:
        kept = [n for n in range(20) if (await store.load_user(f"u{n}")).seat is not None]
    assert sorted(finished) == kept


async def test_a_writer_that_dies_leaves_nobody_waiting(connection: sqlite3.Connection) -> None:
    def fail(_: Batch) -> None:
        raise RuntimeError("a mistake of ours")

    writer = Writer(
        SqliteTransactions(connection), InlineRunner(), max_pending=9, max_batch=1, observer=fail
    )
    told: list[str] = []

    async def write(n: int) -> None:
        with pytest.raises(StoreError) as caught:
            await writer.write(inserting(n))
        told.append(str(caught.value))

    async with trio.open_nursery() as waiting:
        for n in range(3):
            waiting.start_soon(write, n)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(RuntimeError):
            await writer.run()
    assert told == ["the writer of the store has failed"] * 3
    with pytest.raises(StoreError, match="closed"):
        await writer.write(inserting(9))


async def test_on_a_mock_clock_no_time_passes(
    autojump_clock: trio.testing.MockClock, tmp_path: Path, ana: Person
) -> None:
    batches: list[Batch] = []
    async with open_store(
        tmp_path / "yoked.db", runner=InlineRunner(), observer=batches.append
    ) as store:
        for _ in range(20):
            await store.commit(Changes(people=[ana]))
            await store.load_user("ana")
    assert trio.current_time() == 0
    assert {batch.seconds for batch in batches} == {0}
