"""`Tx` on a connection of psycopg."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import psycopg

from yoked_actor.store.engine.postgres.placeholders import translated
from yoked_actor.store.engine.transaction import Parameters, Rows

Connection = psycopg.Connection[tuple[Any, ...]]
_NUL, _SHOWN_NUL = "\0", "\u2400"
"""PostgreSQL stores no NUL in a text: it is stored as the symbol for it."""


class PostgresTx:
    """Runs the statements of the store. Their placeholders are those of SQLite."""

    __slots__ = ("connection",)

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def execute(self, sql: str, parameters: Parameters = (), /) -> Rows:
        """Run one statement."""
        text, names, _ = translated(sql)
        given = _in_order(parameters, names)
        cursor = self.connection.cursor()
        try:
            # Without parameters it may be a command, such as SAVEPOINT, which is not prepared.
            return cursor.execute(text, given or None, prepare=True if given else None)
        except psycopg.DataError:
            if not _has_nul(given):
                raise
            # The text was refused before it was sent.
            return cursor.execute(text, without_nul(given), prepare=True)

    def executemany(self, sql: str, parameters: Iterable[Parameters], /) -> Rows:
        """Run one statement once for each set of parameters; `rowcount` is the sum."""
        text, names, _ = translated(sql)
        given = [_in_order(one, names) for one in parameters]
        if any(_has_nul(one) for one in given):
            given = [without_nul(one) for one in given]
        cursor = self.connection.cursor()
        cursor.executemany(text, given)
        return cursor


def _in_order(parameters: Parameters, names: tuple[str, ...]) -> list[Any]:
    if isinstance(parameters, Mapping):
        return [parameters[name] for name in names]
    return list(parameters)


def _has_nul(parameters: list[Any]) -> bool:
    return any(isinstance(value, str) and _NUL in value for value in parameters)


def without_nul(parameters: list[Any]) -> list[Any]:
    """Values that PostgreSQL can store."""
    return [
        value.replace(_NUL, _SHOWN_NUL) if isinstance(value, str) else value for value in parameters
    ]
