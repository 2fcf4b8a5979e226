"""A thread that computes offers leaves the interpreter lock to transactions."""

from __future__ import annotations

import sqlite3
from threading import Event

import pytest

from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.store import StoreError, StoreUnavailable, Tx
from yoked_actor.store.engine import SqliteTransactions
from yoked_actor.store.engine.writes import Write


class Applied(Event):
    """Records for how long somebody was ready to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return True


def test_it_waits_for_a_transaction_for_a_bounded_time_and_for_nothing_else() -> None:
    applied = Applied()
    give_way = GiveWay(applied)
    applied.set()
    give_way.breathe()
    assert applied.waits == []
    applied.clear()
    give_way.breathe()
    give_way(1, 2)
    give_way.wait()
    assert applied.waits == [0.02, 0.02, 0.02]


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_transaction_is_applied_when_it_begins_to_commit(is_refused: bool) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE seen (n INTEGER)")
    transactions = SqliteTransactions(connection)
    seen: list[tuple[str, bool]] = []
    connection.set_trace_callback(lambda sql: seen.append((sql, transactions.applied.is_set())))

    def add(tx: Tx) -> None:
        tx.execute("INSERT INTO seen VALUES (1)")
        if is_refused:
            raise StoreError("refused")

    assert transactions.applied.is_set()
    assert transactions.commit([Write(add, False, False), Write(add, False, False)]) is None
    connection.set_trace_callback(None)
    assert transactions.applied.is_set()
    assert len(seen) >= 6
    assert {sql for sql, is_applied in seen if is_applied} == {"COMMIT"}


def test_a_transaction_that_cannot_be_committed_keeps_nobody_waiting() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    transactions = SqliteTransactions(connection)

    def fail(tx: Tx) -> None:
        raise StoreUnavailable("the disk does not answer")

    writes = [Write(fail, False, False), Write(fail, False, False)]
    assert transactions.commit(writes) is not None
    assert transactions.applied.is_set()
