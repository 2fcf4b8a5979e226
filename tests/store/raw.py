"""The connection of an open store, to do to it what no program should."""

from __future__ import annotations

import sqlite3

from yoked_actor.store import Store
from yoked_actor.store.engine import SqliteDatabase


def raw_connection(store: Store) -> sqlite3.Connection:
    """The writing connection of a store on SQLite."""
    database = store._database
    assert isinstance(database, SqliteDatabase)
    return database._connection
