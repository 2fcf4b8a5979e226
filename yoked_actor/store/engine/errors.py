"""Errors of the store, with texts for the operator.

`StoreUnavailable` may pass: the call can be tried again. After any other error it fails again.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PROTOCOL,
    }
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_PRIMARY_CODE = 0xFF
"""The lowest byte of an extended result code is the primary result code."""


class StoreError(Exception):
    """An error of the store."""


class StoreUnavailable(StoreError):
    """The store is unavailable at present (disk full, locked, I/O error); nothing was written."""


class DatabaseLost(StoreUnavailable):
    """The file was deleted or replaced while it was open. Putting it back ends this."""


class WriteRefused(StoreError):
    """A write violates a constraint of the schema, which is a bug; nothing was written."""


class DatabaseCorrupt(StoreError):
    """The file is damaged or not a database."""


class DatabaseTooNew(StoreError):
    """The database was written by a newer version of the program."""

    def __init__(self, path: Path | None, found: int, known: int) -> None:
        super().__init__(
            f"{path or 'the database'} was written by a newer version (schema {found}, "
            f"this program knows {known}); upgrade yoked-actor or use another data directory"
        )
        self.found = found
        self.known = known


class DataDirectoryInUse(StoreError):
    """Another server holds the data directory."""

    def __init__(self, directory: Path, pid: int | None) -> None:
        holder = "another server" if pid is None else f"another server (process {pid})"
        super().__init__(
            f"{directory} is in use by {holder}; stop it or use another data directory"
        )
        self.directory = directory
        self.pid = pid


def explain(error: Exception, where: str = "the database") -> Exception:
    """The store's own error for an error of SQLite; any other error is returned as it is."""
    if not isinstance(error, sqlite3.Error):
        return error
    explained = _explained(error, where)
    explained.__cause__ = error
    return explained


def _explained(error: sqlite3.Error, where: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _PRIMARY_CODE
    if primary in _TRANSIENT:
        return StoreUnavailable(f"{where} is unavailable: {error}")
    if primary in _DAMAGED:
        return DatabaseCorrupt(
            f"{where} is damaged or not a database ({error}); restore a backup or move it away"
        )
    if isinstance(error, sqlite3.IntegrityError):
        return WriteRefused(f"{where} refused a write: {error}")
    return StoreError(f"{where} failed: {error}")
