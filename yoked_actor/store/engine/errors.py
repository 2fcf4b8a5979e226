"""What can go wrong with the store, in words for whoever runs the server.

The class says what to do: `StoreUnavailable` is worth another try, everything else is not mended by
trying again.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

_PASSING = frozenset(
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
"""Extended result codes carry the primary one in their lowest byte."""


class StoreError(Exception):
    """Something is wrong with the store."""


class StoreUnavailable(StoreError):
    """The store cannot serve just now (full, locked, I/O error); nothing was written."""


class DatabaseLost(StoreUnavailable):
    """The file was deleted or replaced while it was open; it may be put back."""


class WriteRefused(StoreError):
    """A write breaks a rule of the schema: our own mistake. It left no trace."""


class DatabaseCorrupt(StoreError):
    """The file is not a database, or a damaged one."""


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
    """The store's own error for an error of SQLite; any other error is given back as it is."""
    if not isinstance(error, sqlite3.Error):
        return error
    explained = _explained(error, where)
    explained.__cause__ = error
    return explained


def _explained(error: sqlite3.Error, where: str) -> StoreError:
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _PRIMARY_CODE
    if primary in _PASSING:
        return StoreUnavailable(f"{where} is unavailable: {error}")
    if primary in _DAMAGED:
        return DatabaseCorrupt(
            f"{where} is damaged or not a database ({error}); restore a backup or move it away"
        )
    if isinstance(error, sqlite3.IntegrityError):
        return WriteRefused(f"{where} refused a write: {error}")
    return StoreError(f"{where} failed: {error}")
