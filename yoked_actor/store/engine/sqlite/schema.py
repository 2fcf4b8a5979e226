"""The schema: numbered migrations, each applied once."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from yoked_actor.store.engine.errors import DatabaseTooNew, StoreUnavailable
from yoked_actor.store.engine.sqlite.connections import connect, connect_for_writing, explained
from yoked_actor.store.engine.sqlite.directory_lock import DirectoryLock

_MIGRATIONS = files("yoked_actor.store").joinpath("engine", "migrations")


class Migration(NamedTuple):
    """One step: the version of the schema after it, and its name."""

    version: int
    name: str

    @property
    def text(self) -> str:
        """The SQL script."""
        file = _MIGRATIONS.joinpath(f"{self.version:04}_{self.name}.sql")
        return file.read_text(encoding="utf-8")


def migrations() -> list[Migration]:
    """All migrations, in order."""
    names = sorted(entry.name for entry in _MIGRATIONS.iterdir() if entry.name.endswith(".sql"))
    parts = (name.removesuffix(".sql").partition("_") for name in names)
    return [Migration(int(number), name) for number, _, name in parts]


def newest_schema() -> int:
    """The version of the schema that this program needs."""
    return migrations()[-1].version


def schema_of(connection: sqlite3.Connection) -> int:
    """The version of a database's schema."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def migrate(
    connection: sqlite3.Connection,
    path: Path | None,
    migrating: Callable[[int, str], None] | None = None,
) -> None:
    """Apply the pending migrations, each in a transaction; a new database gets all in one.

    `migrating` is called with the version and the name of each migration of an existing database,
    before it is applied.
    """
    found, newest = schema_of(connection), newest_schema()
    if found > newest:
        raise DatabaseTooNew(path, found, newest)
    if _is_new(connection):
        with closing(sqlite3.connect(":memory:")) as source:
            source.deserialize(_new_database())
            source.backup(connection, progress=_only_once)
    else:
        _apply(connection, found, migrating)


def _is_new(connection: sqlite3.Connection) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_schema").fetchone() is None


def _only_once(status: int, remaining: int, total: int) -> None:
    """Called after a try at copying; without it a locked database would be tried for ever."""
    if status != sqlite3.SQLITE_DONE:
        raise sqlite3.OperationalError("database is locked")


@cache
def _new_database() -> bytes:
    """A database without rows, which is copied in one transaction: a disk syncs once."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        _apply(connection, 0)
        return connection.serialize()


def _apply(
    connection: sqlite3.Connection,
    found: int,
    migrating: Callable[[int, str], None] | None = None,
) -> None:
    """Apply the migrations after the version `found`, each in a transaction."""
    for step in migrations():
        if step.version > found:
            if migrating is not None:
                migrating(*step)
            try:
                connection.executescript(
                    f"BEGIN IMMEDIATE;\n{step.text}\nPRAGMA user_version = {step.version};\nCOMMIT;"
                )
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def pending_migrations(path: Path, *, busy_timeout_s: float) -> tuple[int, list[Migration]]:
    """The version of a database's schema, and the migrations that it lacks."""
    with explained(path), closing(connect(path, busy_timeout_s=busy_timeout_s)) as connection:
        found = schema_of(connection)
    return found, [step for step in migrations() if step.version > found]


def migrate_database(
    path: Path, *, busy_timeout_s: float, migrating: Callable[[int, str], None] | None = None
) -> None:
    """Apply the pending migrations while no server runs; `DataDirectoryInUse` if one does.

    `migrating`: see `migrate`.
    """
    with DirectoryLock(path.parent), explained(path):
        connection = connect_for_writing(path, busy_timeout_s=busy_timeout_s, checkpoint_pages=1000)
        with closing(connection):
            migrate(connection, path, migrating)


def check_is_current(path: Path | None, *, busy_timeout_s: float) -> None:
    """Check that a database exists and has this program's schema, or raise `StoreError`."""
    if path is None or not path.exists():
        raise StoreUnavailable(f"there is no database at {path}; start a server on it first")
    newest = newest_schema()
    with closing(connect(path, busy_timeout_s=busy_timeout_s)) as connection:
        found = schema_of(connection)
    if found > newest:
        raise DatabaseTooNew(path, found, newest)
    if found < newest:
        raise StoreUnavailable(
            f"{path} was written by an older version (schema {found}, this program knows {newest});"
            " start a server of this version on it first"
        )
