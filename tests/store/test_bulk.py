"""Inserting many rows at once into SQLite."""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from yoked_actor.store.engine import insert_rows

_INSERT = "INSERT INTO things (number, name, weight)\nVALUES (?, ?, ?);\n"
VALUES = st.tuples(
    st.integers(-(2**63), 2**63 - 1), st.text(), st.none() | st.floats(allow_nan=False)
)


@given(st.lists(VALUES, max_size=20), st.integers(0, 300), st.booleans())
def test_all_rows_are_inserted_in_their_order(
    rows: list[tuple[Any, ...]], more: int, as_json: bool
) -> None:
    rows = [*rows, *((number, "x", None) for number in range(more))]
    rows = [row for row in rows if row[2] not in (float("inf"), float("-inf"))]
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE things (number INTEGER, name TEXT, weight REAL)")
    insert_rows(connection, _INSERT, msgspec.json.encode(rows) if as_json else rows)
    found = connection.execute("SELECT number, name, weight FROM things ORDER BY rowid").fetchall()
    connection.close()
    assert found == rows


def test_a_statement_has_a_bounded_number_of_parameters() -> None:
    texts: list[str] = []
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE things (number INTEGER, name TEXT, weight REAL)")
    connection.set_trace_callback(texts.append)
    insert_rows(connection, _INSERT, msgspec.json.encode([(1, "a", 0.5)] * 1000))
    inserts = [text for text in texts if text.startswith("INSERT")]
    connection.close()
    assert len(inserts) <= 1000 / 128 + 8
    assert max(text.count("'a'") for text in inserts) == 128
