"""A thread that computes offers leaves the interpreter lock to transactions."""

from __future__ import annotations

import sqlite3
from threading import Event

import pytest

from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.store import StoreError, StoreUnavailable, Tx
from yoked_actor.store.engine import SqliteTransactions
from yoked_actor.store.engine.sqlite.write_turns import WriteTurns
from yoked_actor.store.engine.writes import Write


class Watched(Event):
    """Records for how long somebody was ready to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout)
        return True


class Turns(WriteTurns):
    """Records when a turn begins and ends, and whether a transaction was over then."""

    no_transaction: Event

    def __init__(self, seen: list[tuple[str, bool]]) -> None:
        super().__init__(None, patience_s=0.0)
        self._seen = seen

    def __enter__(self) -> None:
        self._seen.append(("the turn begins", self.no_transaction.is_set()))

    def __exit__(self, *error: object) -> None:
        self._seen.append(("the turn is over", self.no_transaction.is_set()))


def test_it_waits_for_a_transaction_for_a_bounded_time_and_for_nothing_else() -> None:
    no_transaction = Watched()
    give_way = GiveWay(no_transaction)
    no_transaction.set()
    give_way.breathe()
    assert no_transaction.waits == []
    no_transaction.clear()
    give_way.breathe()
    give_way(1, 2)
    give_way.wait()
    assert no_transaction.waits == [0.02, 0.02, 0.02]


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_transaction_lasts_until_its_turn_is_over(is_refused: bool) -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute("CREATE TABLE seen (n INTEGER)")
    turns = Turns(seen := list[tuple[str, bool]]())
    transactions = SqliteTransactions(connection, turns=turns)
    no_transaction = turns.no_transaction = transactions.no_transaction
    connection.set_trace_callback(lambda sql: seen.append((sql, no_transaction.is_set())))

    def add(tx: Tx) -> None:
        tx.execute("INSERT INTO seen VALUES (1)")
        if is_refused:
            raise StoreError("refused")

    assert no_transaction.is_set()
    assert transactions.commit([Write(add, False, False), Write(add, False, False)]) is None
    connection.set_trace_callback(None)
    assert no_transaction.is_set()
    assert [seen[0][0], seen[1][0]] == ["the turn begins", "BEGIN IMMEDIATE"]
    assert [seen[-2], seen[-1]] == [("COMMIT", False), ("the turn is over", False)]
    # To wait for a turn needs no interpreter lock.
    assert [what for what, is_set in seen if is_set] == ["the turn begins"]


def test_a_transaction_that_cannot_be_committed_keeps_nobody_waiting() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    transactions = SqliteTransactions(connection)

    def fail(tx: Tx) -> None:
        raise StoreUnavailable("the disk does not answer")

    writes = [Write(fail, False, False), Write(fail, False, False)]
    assert transactions.commit(writes) is not None
    assert transactions.no_transaction.is_set()
