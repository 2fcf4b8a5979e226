"""Opening the database: the settings of a connection, migrations."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

from yoked_actor.store.engine.errors import DatabaseTooNew, StoreError, StoreUnavailable, explain

_STORE = files("yoked_actor.store")


def statement(name: str) -> str:
    """The text of one SQL file: `jobs/claim` names `store/jobs/sql/claim.sql`."""
    room, file = name.split("/")
    return _STORE.joinpath(room, "sql", f"{file}.sql").read_text(encoding="utf-8")


@contextmanager
def explained(path: Path | None) -> Iterator[None]:
    """Turn errors of SQLite into the store's own, naming the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, str(path or "the database")) from error


def connect(path: Path | None, *, busy_timeout_s: float) -> sqlite3.Connection:
    """A connection; a memory of its own when `path` is None. Transactions are ours to begin."""
    return sqlite3.connect(
        path or ":memory:", timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
    )


def connect_for_writing(
    path: Path | None, *, busy_timeout_s: float, checkpoint_pages: int
) -> sqlite3.Connection:
    """The durable connection; it makes the database when there is none."""
    if path is not None:
        # SQLite would leave it readable to all; the files of its log take the mode from this one.
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
        # What is deleted or changed is overwritten: an erasure would miss what was left behind.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(f"PRAGMA wal_autocheckpoint = {checkpoint_pages:d}")
    except BaseException:
        connection.close()
        raise
    return connection


def migration_names() -> list[tuple[int, str]]:
    """The numbered migrations, in order: (version, name)."""
    folder = _STORE.joinpath("engine", "migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [
        (int(name.partition("_")[0]), name.partition("_")[2].removesuffix(".sql")) for name in names
    ]


def migrations() -> list[tuple[int, str]]:
    """The numbered migrations, in order: (version, text)."""
    folder = _STORE.joinpath("engine", "migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [
        (int(name.partition("_")[0]), folder.joinpath(name).read_text(encoding="utf-8"))
        for name in names
    ]


def migrate(connection: sqlite3.Connection, path: Path | None) -> None:
    """Bring the schema up to this program's version, each step in a transaction."""
    known = migrations()
    (found,) = connection.execute("PRAGMA user_version").fetchone()
    newest = known[-1][0]
    if found > newest:
        raise DatabaseTooNew(path, found, newest)
    for version, text in known:
        if version > found:
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE;\n{text}\nPRAGMA user_version = {version};\nCOMMIT;"
                )
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def check_is_current(path: Path | None, *, busy_timeout_s: float) -> None:
    """See that there is a database of this version: only a server makes or changes one."""
    if path is None or not path.exists():
        raise StoreUnavailable(f"there is no database at {path}; start a server on it first")
    newest = migrations()[-1][0]
    connection = connect(path, busy_timeout_s=busy_timeout_s)
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
    finally:
        connection.close()
    if found > newest:
        raise DatabaseTooNew(path, found, newest)
    if found < newest:
        raise StoreUnavailable(
            f"{path} was written by an older version (schema {found}, this program knows {newest});"
            " start a server of this version on it first"
        )
