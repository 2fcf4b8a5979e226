"""Errors of PostgreSQL as errors of the store."""

from __future__ import annotations

import psycopg

from yoked_actor.store.engine.errors import (
    DatabaseCorrupt,
    StoreError,
    StoreUnavailable,
    WriteRefused,
)

# By the class of the SQLSTATE, see "PostgreSQL Error Codes" in its manual.
_TRANSIENT = (
    "08",  # connection
    "25006",  # read-only transaction: a standby
    "40",  # deadlock, serialization
    "53",  # disk full, out of memory, too many connections
    "55",  # lock not available, object in use
    "57",  # shutdown, start in progress, statement timeout
    "58",  # I/O error
)
_DAMAGED = ("XX001", "XX002")


def explain_postgres(error: Exception, where: str) -> StoreError | None:
    """The store's error for an error of PostgreSQL; None for any other error."""
    if not isinstance(error, psycopg.Error):
        return None
    state = error.sqlstate
    text = " ".join(str(error).split())
    if (state is None and isinstance(error, psycopg.OperationalError)) or (
        state is not None and state.startswith(_TRANSIENT)
    ):
        return StoreUnavailable(f"{where} is unavailable: {text}")
    if state in _DAMAGED:
        return DatabaseCorrupt(f"{where} is damaged ({text}); restore a backup")
    if isinstance(error, psycopg.IntegrityError | psycopg.DataError):
        return WriteRefused(f"{where} refused a write: {text}")
    return StoreError(f"{where} failed: {text}")
