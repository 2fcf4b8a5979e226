"""Inserting many rows at once.

SQLite takes the values of many rows as parameters of one statement: that is a third of the work of
reading them from JSON, and each statement releases the interpreter lock and has to acquire it
again. PostgreSQL takes the JSON array: it is one parameter, and its type is always the same.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain
from typing import Any

import msgspec

from yoked_actor.store.engine.transaction import Tx

_MOST_ROWS = 128
"""In one statement."""

_decode = msgspec.json.Decoder(list[list[Any]]).decode


def insert_rows(tx: Tx, sql: str, rows: bytes | Sequence[Sequence[Any]]) -> None:
    """Insert rows of plain values, which may be given as a JSON array of arrays.

    The statement ends with the placeholders of one row; that of PostgreSQL takes the JSON array.
    """
    if not isinstance(tx, sqlite3.Connection):
        array = rows if isinstance(rows, bytes) else msgspec.json.encode(rows)
        tx.execute(sql, (array.decode(),))
        return
    values = _decode(rows) if isinstance(rows, bytes) else rows
    first = 0
    for count in _parts(len(values)):
        part = values[first : first + count]
        tx.execute(_for_rows(sql, count), tuple(chain.from_iterable(part)))
        first += count


def _parts(rows: int) -> Iterator[int]:
    """Powers of two whose sum is the number of rows: so there are few statements to prepare."""
    count = _MOST_ROWS
    while rows:
        while count <= rows:
            yield count
            rows -= count
        count //= 2


@cache
def _for_rows(sql: str, rows: int) -> str:
    insert, values = sql.rstrip().removesuffix(";").rsplit("VALUES", 1)
    return f"{insert}VALUES{', '.join([values] * rows)}"
