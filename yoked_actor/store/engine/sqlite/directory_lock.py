"""The lock on a data directory: one server at a time.

The directory itself is locked, because a lock file can be deleted, and a second server would then
lock a new file of the same name. The file `yoked.lock` is locked as well, for older versions that
know only this lock. It contains the process id, for people and scripts.

The database file is not locked here: SQLite has its own locks on it, and the system releases those
when the process closes any descriptor of the file.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

from yoked_actor.store.engine.errors import DataDirectoryInUse, StoreUnavailable

LOCK_NAME = "yoked.lock"


class DirectoryLock:
    """Prevents a second server on a data directory. The end of the process releases it."""

    def __init__(self, directory: Path) -> None:
        """Raises `DataDirectoryInUse`, or `StoreUnavailable` when it cannot be locked."""
        with ExitStack() as opened:
            try:
                directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
                opened.callback(os.close, folder)
                _lock(folder, directory)
                file = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
                opened.callback(os.close, file)
                _lock(file, directory)
                os.ftruncate(file, 0)
                os.pwrite(file, b"%d\n" % os.getpid(), 0)
            except OSError as error:
                raise StoreUnavailable(
                    f"the data directory {directory} cannot be used: {error}"
                ) from error
            self._held = opened.pop_all()

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self._held.close()


def holder_of(directory: Path) -> int | None:
    """The process id of the server that holds a data directory; None when no server does, 0 when
    its id is not known."""
    for path in (directory, directory / LOCK_NAME):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except OSError:
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return _named_in(directory) or 0
        finally:
            os.close(descriptor)
    return None


def _lock(descriptor: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise DataDirectoryInUse(directory, _named_in(directory)) from None


def _named_in(directory: Path) -> int | None:
    """The process id in the lock file."""
    try:
        text = (directory / LOCK_NAME).read_bytes()[:32]
    except OSError:
        return None
    return int(text) if text.strip().isdigit() else None
