"""Turns at writing between the processes that share a database.

SQLite lets one process write at a time, and the others poll for its lock with growing pauses. A
process that commits without a pause can keep another one waiting for long: a worker that stores a
morning's offers, and a server that stores a spin. So a process first takes a place in a queue (one
lock), then its turn (a second lock), and gives up its place when it has its turn. A process that
has just written finds the place taken by the one that waits, and cannot go first again.

The locks are advisory and belong to open files: the end of a process releases them. Waiting is
bounded: after that, SQLite's own lock decides.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType

QUEUE_NAME, TURN_NAME = "yoked.queue", "yoked.turn"
_PAUSE_S = 0.0005


class WriteTurns:
    """The turns of one thread, one after the other; each is a context manager."""

    def __init__(self, directory: Path | None, *, patience_s: float) -> None:
        """Without a directory, which is a database in memory, there are no turns to wait for."""
        self._patience_s = patience_s
        self._files: list[int] = []
        if directory is not None:
            for name in (QUEUE_NAME, TURN_NAME):
                self._files.append(os.open(directory / name, os.O_RDWR | os.O_CREAT, 0o600))

    def turn(self) -> WriteTurns:
        """Wait for a turn, for a bounded time, and have it until the block is left. Blocks."""
        return self

    def __enter__(self) -> None:
        if not self._files:
            return
        queue, turn = self._files
        until = time.monotonic() + self._patience_s
        try:
            if _locked(queue, until):
                _locked(turn, until)
            fcntl.flock(queue, fcntl.LOCK_UN)
        except BaseException:
            fcntl.flock(turn, fcntl.LOCK_UN)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._files:
            fcntl.flock(self._files[1], fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the files."""
        while self._files:
            os.close(self._files.pop())


def _locked(file: int, until: float) -> bool:
    """Lock a file; False when another process holds the lock for too long."""
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE_S)
        else:
            return True
