"""Transactions of SQLite: a batch of queued writes as one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from threading import Event
from typing import Any

from yoked_actor.store.engine.sqlite.checkpoints import Checkpoints
from yoked_actor.store.engine.sqlite.write_turns import WriteTurns
from yoked_actor.store.engine.writes import Write


class SqliteTransactions:
    """Commits batches on one connection."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        check: Callable[[], None] | None = None,
        turns: WriteTurns | None = None,
        checkpoints: Checkpoints | None = None,
    ) -> None:
        """`check` raises when a write would be lost: it is called before and after each commit.

        `turns` are those of the processes that share the database. With `checkpoints`, this process
        copies the WAL before a commit has to.
        """
        self._connection = connection
        self._check = check or (lambda: None)
        self._turns = turns or WriteTurns(None, patience_s=0.0)
        self._checkpoints = checkpoints
        self.no_transaction = Event()
        self.no_transaction.set()

    def commit(self, batch: list[Write[Any]]) -> Exception | None:
        """Commit a batch; returns the error when all of it was rolled back, or is lost. Blocks."""
        try:
            with self._turns.turn():
                error = self._apply(batch)
        finally:
            # Not before the turn is over: after the sync this thread needs the interpreter lock
            # once more to end it, and a spin may wait for that.
            if not self.no_transaction.is_set():
                self.no_transaction.set()
        if error is None and self._checkpoints is not None:
            self._checkpoints.after_commit()
        return error

    def resolve(self) -> Exception | None:
        """A file leaves no doubt."""
        return None

    def _apply(self, batch: list[Write[Any]]) -> Exception | None:
        """Commit a batch; returns the error when all of it was rolled back, or is lost."""
        connection, check = self._connection, self._check
        try:
            check()
            if len(batch) == 1 and batch[0].atomic:
                batch[0].run(connection)
                check()
                return None
            self.no_transaction.clear()
            connection.execute("BEGIN IMMEDIATE")
            for write in batch:
                if write.atomic or len(batch) == 1:
                    write.run(connection)
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


def _apply_in_savepoint(connection: sqlite3.Connection, write: Write[Any]) -> None:
    connection.execute("SAVEPOINT one")
    write.run(connection)
    if write.error is not None:
        connection.execute("ROLLBACK TO one")
    connection.execute("RELEASE one")
