"""Detects that the files that SQLite has open are not the files at their paths any more.

SQLite goes on writing to a file that was deleted or replaced while it was open, and these writes
are lost. So the paths are checked before and after each commit, and by `ping`. A check is two
system calls, a few microseconds, or 20 after a sync, when the processor's caches are cold.
"""

from __future__ import annotations

import os
from pathlib import Path

import structlog

from yoked_actor.store.engine.errors import DatabaseLost

_log = structlog.get_logger()

_Identity = tuple[int, int]


class OpenFiles:
    """The identities of the database and its WAL when they were opened."""

    def __init__(self, path: Path | None) -> None:
        """Create it after the first use of the connection. A database in memory has no files."""
        self._path = path
        self._opened: dict[str, _Identity] = {}
        self._is_lost = False
        if path is not None:
            for name in (str(path), f"{path}-wal"):
                found = _identity(name)
                if found is not None:
                    self._opened[name] = found

    def lost(self) -> str | None:
        """What happened to a file, as a text; None when all files are in place."""
        problem = self._problem()
        if (problem is not None) is not self._is_lost:
            self._is_lost = problem is not None
            if problem is None:
                _log.warning("database_found", path=str(self._path))
            else:
                _log.critical("database_lost", path=str(self._path), problem=problem)
        return problem

    def check(self) -> None:
        """Raise `DatabaseLost` if a file is not in place."""
        if not self._is_lost and self._are_in_place():
            return
        problem = self.lost()
        if problem is not None:
            raise DatabaseLost(problem)

    def _are_in_place(self) -> bool:
        """`_problem` in few steps, because a commit waits for it."""
        try:
            for name, (device, inode) in self._opened.items():
                found = os.stat(name)
                if found.st_ino != inode or found.st_dev != device:
                    return False
        except OSError:
            return False
        return True

    def _problem(self) -> str | None:
        for name, opened in self._opened.items():
            found = _identity(name)
            if found != opened:
                what = "deleted or moved away" if found is None else "replaced by another file"
                return f"{name} was {what} while it was open; nothing can be stored"
        return None


def _identity(name: str) -> _Identity | None:
    try:
        found = os.stat(name)
    except OSError:
        return None
    return found.st_dev, found.st_ino
