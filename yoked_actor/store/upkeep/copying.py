"""Copies a SQLite database into an empty PostgreSQL database, all or nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from yoked_actor.store.engine import (
    DirectoryLock,
    StoreError,
    check_is_current,
    connect,
    explained,
)

_STAYS = {"lease_clock"}
"""Tables that are about this machine."""


class CopiedTable(NamedTuple):
    """How many rows of a table were copied."""

    table: str
    rows: int


class TargetNotEmpty(StoreError):
    """The PostgreSQL database has rows already; nothing was copied."""


def copy_store(
    path: Path,
    url: str,
    *,
    busy_timeout_s: float,
    progress: Callable[[CopiedTable], None] = lambda _: None,
) -> list[CopiedTable]:
    """Copy every table; on an error the target has no rows, as before.

    Raises `DataDirectoryInUse` or `DatabaseInUse` if a server runs on either, and `TargetNotEmpty`.
    """
    from yoked_actor.store.engine import postgres

    check_is_current(path, busy_timeout_s=busy_timeout_s)
    copied: list[CopiedTable] = []
    with (
        DirectoryLock(path.parent),
        explained(path),
        closing(connect(path, busy_timeout_s=busy_timeout_s)) as source,
        postgres.open_target(url, timeout_s=busy_timeout_s) as target,
    ):
        source.execute("PRAGMA query_only = ON")
        source.execute("BEGIN")
        tables = source.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            " ORDER BY name"
        ).fetchall()
        full = [table for (table,) in tables if target.count(table)]
        if full:
            raise TargetNotEmpty(
                f"{target.where} is not empty: {', '.join(full)} have rows. Copy into a database"
                " on which no server was started yet"
            )
        for (table,) in tables:
            if table in _STAYS:
                continue
            columns = [column for _, column, *_ in source.execute(f"PRAGMA table_info({table})")]
            rows = source.execute(f"SELECT {', '.join(columns)} FROM {table}")
            done = CopiedTable(table, target.copy(table, columns, rows))
            (expected,) = source.execute(f"SELECT count(*) FROM {table}").fetchone()
            if target.count(table) != expected:
                raise StoreError(f"{table}: {expected} rows, but {target.count(table)} were copied")
            copied.append(done)
            progress(done)
        used = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        target.continue_numbers({str(table): int(number) for table, number in used})
    return copied
