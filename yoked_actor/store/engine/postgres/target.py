"""A database that is filled from another one, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from yoked_actor.store.engine.postgres.connections import (
    connect_postgres,
    explained,
    shown_url,
)
from yoked_actor.store.engine.postgres.schema import migrate_postgres
from yoked_actor.store.engine.postgres.session import lock_for_server
from yoked_actor.store.engine.postgres.transaction import Connection, without_nul


class Target:
    """An open transaction on a database."""

    def __init__(self, connection: Connection, where: str) -> None:
        self._connection = connection
        self.where = where

    def count(self, table: str) -> int:
        """How many rows a table has."""
        row = self._connection.execute(f'SELECT count(*) FROM "{table}"').fetchone()
        return 0 if row is None else int(row[0])

    def copy(self, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> int:
        """Add rows to a table; returns how many."""
        names = ", ".join(f'"{column}"' for column in columns)
        count = 0
        with self._connection.cursor().copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
            for row in rows:
                copy.write_row(without_nul(list(row)))
                count += 1
        return count

    def continue_numbers(self, used: Mapping[str, int]) -> None:
        """Let the numbers that a table gives go on after the greatest that was used."""
        found = self._connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = current_schema() AND is_identity = 'YES'"
            " AND table_name <> 'writers'"
        ).fetchall()
        for table, column in found:
            self._connection.execute(
                f"SELECT setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, 1,"
                f' (SELECT max("{column}") FROM "{table}")),'
                f' greatest($3::bigint, (SELECT max("{column}") FROM "{table}")) > 0)',
                (table, column, used.get(table, 0)),
            )


@contextmanager
def open_target(url: str, *, timeout_s: float) -> Iterator[Target]:
    """A transaction on a database with the schema of this version, on which no server runs."""
    where = shown_url(url)
    with explained(where), connect_postgres(url, timeout_s=timeout_s) as connection:
        lock_for_server(connection, where, wait_s=0.0)
        migrate_postgres(connection, where)
        with connection.transaction():
            yield Target(connection, where)
