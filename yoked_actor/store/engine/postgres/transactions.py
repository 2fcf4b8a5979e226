"""Transactions of PostgreSQL: a batch of queued writes as one.

A statement that fails ends its transaction, unlike on SQLite: so each write of a batch has a
savepoint, and the commands around it are sent together, in one round trip.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from threading import Event
from typing import Any

import psycopg

from yoked_actor.store.engine.errors import CommitInDoubt, StoreUnavailable, explain
from yoked_actor.store.engine.postgres.placeholders import translated
from yoked_actor.store.engine.postgres.session import Session
from yoked_actor.store.engine.postgres.transaction import Connection, PostgresTx
from yoked_actor.store.engine.transaction import Parameters, Rows
from yoked_actor.store.engine.turns import Turn
from yoked_actor.store.engine.writes import Write

_TURNS = 0x796F6B6564_03
"""The advisory lock of turns: "yoked", and a number."""
_BEGIN = {
    Turn.FREE: "BEGIN; SELECT pg_temp.mark()",
    Turn.SHARED: f"BEGIN; SELECT pg_temp.mark(); SELECT pg_advisory_xact_lock_shared({_TURNS})",
    Turn.ALONE: f"BEGIN; SELECT pg_temp.mark(); SELECT pg_advisory_xact_lock({_TURNS})",
}
"""The turn comes first, so that no transaction waits for another one's rows before it has it."""
_NEXT = "RELEASE SAVEPOINT one; SAVEPOINT one"
_NEXT_AFTER_ERROR = "ROLLBACK TO SAVEPOINT one"


class PostgresTransactions:
    """Commits batches on the writing connection of a process."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.no_transaction = Event()
        # Statements run in the server of the database.
        self.no_transaction.set()

    def commit(self, batch: list[Write[Any]]) -> Exception | None:
        """Commit a batch; returns the error when all of it was rolled back. Blocks.

        `CommitInDoubt`: the connection was lost, and `resolve` has to be called.
        """
        try:
            connection = self._session.connection
        except Exception as error:
            return error
        try:
            if _apply(connection, batch):
                self._session.committed()
        except Exception as error:
            if self._session.is_lost():
                self._session.link.failed(error)
                return CommitInDoubt(f"{self._session.link.where}: {error}")
            with suppress(psycopg.Error):
                connection.rollback()
            return explain(error, self._session.link.where)
        return None

    def resolve(self) -> Exception | None:
        """Find out what became of the batch in doubt: None when it was committed. Blocks."""
        try:
            if self._session.was_committed():
                return None
        except StoreUnavailable as error:
            return CommitInDoubt(str(error))
        except Exception as error:
            return error
        return StoreUnavailable(f"the connection to {self._session.link.where} was lost")


def _apply(connection: Connection, batch: list[Write[Any]]) -> bool:
    """Apply a batch; whether a transaction was committed."""
    if len(batch) == 1:
        return _apply_alone(connection, batch[0])
    turn = max(write.turn for write in batch)
    connection.execute(f"{_BEGIN[turn]}; SAVEPOINT one")
    tx = PostgresTx(connection)
    last = batch[-1]
    for write in batch:
        write.run(tx)
        if write.error is not None:
            connection.execute(_NEXT_AFTER_ERROR)
        elif write is not last:
            connection.execute(_NEXT)
    _commit(connection)
    return True


def _apply_alone(connection: Connection, write: Write[Any]) -> bool:
    if write.atomic:
        alone = _AloneTx(connection, write.turn)
        write.run(alone)
        if not alone.has_begun:
            return write.error is None
    else:
        connection.execute(_BEGIN[write.turn])
        write.run(PostgresTx(connection))
    if write.error is not None:
        connection.execute("ROLLBACK")
        return False
    _commit(connection)
    return True


def _commit(connection: Connection) -> None:
    """COMMIT. PostgreSQL answers ROLLBACK, and no error, if a statement has failed before."""
    answer = connection.execute("COMMIT").statusmessage
    if answer != "COMMIT":
        raise psycopg.errors.InFailedSqlTransaction(
            "the transaction was rolled back: a statement had failed, and its error was not raised"
        )


class _AloneTx(PostgresTx):
    """For a write of one statement: the commit of a round needs no BEGIN and no COMMIT."""

    __slots__ = ("_turn", "has_begun")

    def __init__(self, connection: Connection, turn: Turn) -> None:
        super().__init__(connection)
        self._turn = turn
        self.has_begun = False

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        if not self.has_begun and not translated(sql).is_marked:
            self._begin()
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> Rows:
        if not self.has_begun:
            self._begin()
        return super().executemany(sql, parameters)

    def _begin(self) -> None:
        self.connection.execute(_BEGIN[self._turn])
        self.has_begun = True
