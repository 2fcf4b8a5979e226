"""What runs inside a transaction: statements, and the rows that they return.

The rooms of the store, and the effects of jobs, see `Tx` and not a connection of SQLite.
`sqlite3.Connection` satisfies it as it is, and costs nothing; for PostgreSQL see `PostgresTx`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from yoked_actor.store.engine.statements import statement

Parameters = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]
_SNAPSHOT = statement("engine/snapshot")
_END_SNAPSHOT = statement("engine/end_snapshot")


class Rows(Protocol):
    """The result of a statement."""

    @property
    def rowcount(self) -> int:
        """How many rows the statement inserted, updated or deleted."""
        ...

    def fetchone(self) -> Any:
        """The next row, or None."""
        ...

    def fetchall(self) -> list[Any]:
        """The remaining rows."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class Tx(Protocol):
    """A transaction, or a snapshot that is only read."""

    def execute(self, sql: str, parameters: Parameters = ..., /) -> Rows:
        """Run one statement."""
        ...

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> Rows:
        """Run one statement once for each set of parameters; `rowcount` is the sum."""
        ...


def inserted_id(rows: Rows) -> int:
    """The id of the row that a statement has inserted.

    SQLite knows it without RETURNING, which would take a tenth of the time of a small insert. The
    text for PostgreSQL returns it.
    """
    found = getattr(rows, "lastrowid", None)
    return int(rows.fetchone()[0] if found is None else found)


@contextmanager
def snapshot(tx: Tx) -> Iterator[None]:
    """Let several statements read one snapshot of the database."""
    tx.execute(_SNAPSHOT)
    try:
        yield
    finally:
        tx.execute(_END_SNAPSHOT)
