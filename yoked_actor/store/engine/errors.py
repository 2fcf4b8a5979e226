"""Errors of the store, with texts for the operator.

`StoreUnavailable` may pass: the call can be tried again. After any other error it fails again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


class StoreError(Exception):
    """An error of the store."""


class StoreUnavailable(StoreError):
    """The store is unavailable at present (disk full, locked, I/O error); nothing was written."""


class CommitInDoubt(StoreUnavailable):
    """The connection was lost: whether the transaction was committed is not known yet."""


class DatabaseLost(StoreUnavailable):
    """The file was deleted or replaced while it was open. Putting it back ends this."""


class WriteRefused(StoreError):
    """A write violates a constraint of the schema, which is a bug; nothing was written."""


class DatabaseCorrupt(StoreError):
    """The file is damaged or not a database."""


class DatabaseTooNew(StoreError):
    """The database was written by a newer version of the program."""

    def __init__(self, where: Path | str | None, found: int, known: int) -> None:
        another = "another database" if isinstance(where, str) else "another data directory"
        super().__init__(
            f"{where or 'the database'} was written by a newer version (schema {found}, "
            f"this program knows {known}); upgrade yoked-actor or use {another}"
        )
        self.found = found
        self.known = known


class DatabaseInUse(StoreError):
    """Another server uses the database."""


class StoreMisconfigured(StoreError):
    """The settings of the store cannot be used; the text says what to change."""


class DataDirectoryInUse(StoreError):
    """Another server holds the data directory."""

    def __init__(self, directory: Path, pid: int | None) -> None:
        holder = "another server" if pid is None else f"another server (process {pid})"
        super().__init__(
            f"{directory} is in use by {holder}; stop it or use another data directory"
        )
        self.directory = directory
        self.pid = pid


_Explain = Callable[[Exception, str], "Exception | None"]
_engines: list[_Explain] = []


def explained_by(engine: _Explain) -> None:
    """Add an engine: a function that returns the store's error for an error of its own."""
    _engines.append(engine)


def explain(error: Exception, where: str = "the database") -> Exception:
    """The store's own error for an error of an engine; any other error is returned as it is."""
    for engine in _engines:
        explained = engine(error, where)
        if explained is not None:
            explained.__cause__ = error
            return explained
    return error
