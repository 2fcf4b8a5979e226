"""Connections to the database, and the settings of each."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from yoked_actor.store.engine.errors import StoreError, StoreUnavailable, explain


def engine_version() -> str:
    """The name and version of the engine."""
    return f"SQLite {sqlite3.sqlite_version}"


@contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Turn errors of SQLite into the store's own, which name the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, str(path or "the database")) from error


def connect(path: Path | None, *, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection in autocommit mode; to a database of its own in memory when `path` is None."""
    return sqlite3.connect(
        path or ":memory:", timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
    )


def connect_for_writing(
    path: Path | None, *, busy_timeout_s: float, checkpoint_pages: int
) -> sqlite3.Connection:
    """A connection whose commits are durable; creates the database when there is none."""
    if path is not None:
        # SQLite would make it readable to all users. The WAL takes its mode from this file.
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreUnavailable(f"{path} cannot be opened: {error}") from error
    connection = connect(path, busy_timeout_s=busy_timeout_s)
    try:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != ("wal" if path else "memory"):
            raise StoreError(f"{path}: this file system does not support a write-ahead log")
        connection.execute("PRAGMA synchronous = FULL")
        # Deleted content is overwritten with zeros, so that an erasure leaves nothing in the file.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {checkpoint_pages:d}")
    except BaseException:
        connection.close()
        raise
    return connection
