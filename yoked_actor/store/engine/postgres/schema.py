"""The schema on PostgreSQL: numbered migrations, each applied once, under an advisory lock."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files

from yoked_actor.store.engine.errors import DatabaseTooNew, StoreUnavailable
from yoked_actor.store.engine.postgres.transaction import Connection

_MIGRATIONS = files("yoked_actor.store").joinpath("engine", "migrations_postgres")
_LOCK = 0x796F6B6564_01
"""The advisory lock of migrations: "yoked", and a number."""


def postgres_migrations() -> list[tuple[int, str]]:
    """The version of the schema after each migration, and the name of its file, in order."""
    names = sorted(entry.name for entry in _MIGRATIONS.iterdir() if entry.name.endswith(".sql"))
    return [(int(name.partition("_")[0]), name) for name in names]


def postgres_schema_of(connection: Connection) -> int:
    """The version of a database's schema; 0 when it has none."""
    row = connection.execute("SELECT to_regclass('schema_migrations') IS NULL").fetchone()
    if row is None or row[0]:
        return 0
    found = connection.execute("SELECT max(version) FROM schema_migrations").fetchone()
    return 0 if found is None or found[0] is None else int(found[0])


def migrate_postgres(
    connection: Connection, where: str, migrating: Callable[[int, str], None] | None = None
) -> None:
    """Apply the pending migrations, each in a transaction.

    Another process that does so is waited for. `migrating` is called with the version and the name
    of each migration of an existing database, before it is applied.
    """
    connection.execute("SELECT pg_advisory_lock($1)", (_LOCK,))
    try:
        found, newest = postgres_schema_of(connection), postgres_migrations()[-1][0]
        if found > newest:
            raise DatabaseTooNew(where, found, newest)
        for version, name in postgres_migrations():
            if version > found:
                if migrating is not None and found:
                    migrating(version, name.partition("_")[2].removesuffix(".sql"))
                _apply(connection, version, name)
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock($1)", (_LOCK,))


def check_postgres_is_current(connection: Connection, where: str) -> None:
    """Check that a database has this program's schema, or raise `StoreError`."""
    found, newest = postgres_schema_of(connection), postgres_migrations()[-1][0]
    if found > newest:
        raise DatabaseTooNew(where, found, newest)
    if found == 0:
        raise StoreUnavailable(f"{where} has no tables of yoked-actor; start a server on it first")
    if found < newest:
        raise StoreUnavailable(
            f"{where} was written by an older version (schema {found}, this program knows"
            f" {newest}); start a server of this version on it first"
        )


def _apply(connection: Connection, version: int, name: str) -> None:
    text = _MIGRATIONS.joinpath(name).read_text(encoding="utf-8")
    with connection.transaction():
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations (version bigint PRIMARY KEY,"
            " name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        connection.execute(text)
        connection.execute(
            "INSERT INTO schema_migrations (version, name) VALUES ($1, $2)", (version, name)
        )
