"""Errors of SQLite as errors of the store."""

from __future__ import annotations

import sqlite3

from yoked_actor.store.engine.errors import (
    DatabaseCorrupt,
    StoreError,
    StoreUnavailable,
    WriteRefused,
)

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


def explain_sqlite(error: Exception, where: str) -> StoreError | None:
    """The store's error for an error of SQLite; None for any other error."""
    if not isinstance(error, sqlite3.Error):
        return None
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
