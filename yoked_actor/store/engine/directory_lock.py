"""The lock on a data directory: one server at a time.

Locked is the directory itself, because a file in it can be deleted, and a second server would then
lock a new file of the same name. The file `yoked.lock` is locked as well, for the sake of older
versions that know of nothing else, and holds the process id for people and scripts.

The database is not locked: SQLite has locks of its own on it, and the system drops those when any
descriptor of the file is closed in the process.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

from yoked_actor.store.engine.errors import DataDirectoryInUse, StoreUnavailable

LOCK_NAME = "yoked.lock"


class DirectoryLock:
    """Keeps a second server off a data directory. The system frees it however the process ends."""

    def __init__(self, directory: Path) -> None:
        """Raises `DataDirectoryInUse`, or `StoreUnavailable` when it cannot be locked at all."""
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
    """The process of the server that holds a data directory; None when nobody does, 0 when it has
    not said who it is."""
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
    """The process that the lock file names."""
    try:
        text = (directory / LOCK_NAME).read_bytes()[:32]
    except OSError:
        return None
    return int(text) if text.strip().isdigit() else None
