"""Wake-ups between processes that share a data directory.

SQLite does not notify other processes of a write. Each process that dispatches jobs listens on a
datagram socket beside the database; a process that changes the queue sends a byte to each of them.
A lost wake-up costs time and nothing else: a dispatcher also wakes when the next job is due.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

_PREFIX, _SUFFIX = "jobs-", ".bell"
_CLOCK_TICK_NS = 1_000_000_000
"""More than the resolution of the times of any file system here."""


class OtherDispatchers:
    """The dispatchers of the other processes on a data directory."""

    def __init__(self, directory: Path, name: str | None = None) -> None:
        """`name` is this process's own name if it is not its id."""
        self._directory = directory
        self._name = name
        self._path = str(directory)
        self._sockets: list[str] = []
        self._changed_at = -1
        """When the directory was last changed, if its sockets are known since; else -1."""

    def wake(self) -> None:
        """Wake them. Does not block or raise."""
        try:
            # The directory is read only if it was changed: a producer does this for every job.
            changed_at = os.stat(self._path).st_mtime_ns
            if changed_at != self._changed_at:
                self._find(changed_at)
            own = _socket_name(self._name)
            names = [name for name in self._sockets if name != own]
            if names:
                self._send(names)
        except OSError:
            pass

    def _find(self, changed_at: int) -> None:
        self._sockets = [name for name in os.listdir(self._path) if _is_socket(name)]
        # A change soon after another one may have the same time.
        is_over = abs(time.time_ns() - changed_at) > _CLOCK_TICK_NS
        self._changed_at = changed_at if is_over else -1

    def _send(self, names: list[str]) -> None:
        directory = self._directory
        with _reachable(directory) as prefix, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.setblocking(False)
            for name in names:
                try:
                    s.sendto(b"!", f"{prefix}/{name}")
                except ConnectionRefusedError:
                    (directory / name).unlink(missing_ok=True)  # its process was killed
                except OSError:
                    pass  # its buffer is full of wake-ups, or its process is stopping


def wake_other_processes(directory: Path, name: str | None = None) -> None:
    """Wake the dispatchers of other processes once. Does not block or raise.

    `name` is this process's own name if it is not its id.
    """
    OtherDispatchers(directory, name).wake()


async def listen_for_wakeups(
    directory: Path, wake: Callable[[], None], name: str | None = None
) -> None:
    """Call `wake` whenever another process sends a wake-up, until cancelled."""
    name = _socket_name(name)
    (directory / name).unlink(missing_ok=True)
    # Not trio's own bind, which uses a thread: a mock clock may jump while a thread works.
    plain = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listener = trio.socket.from_stdlib_socket(plain)
    try:
        with _reachable(directory) as prefix:
            plain.bind(f"{prefix}/{name}")
        (directory / name).chmod(0o600)
        while True:
            await listener.recv(1)
            wake()
    finally:
        listener.close()
        (directory / name).unlink(missing_ok=True)


def _socket_name(name: str | None) -> str:
    return f"{_PREFIX}{os.getpid() if name is None else name}{_SUFFIX}"


def _is_socket(name: str) -> bool:
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


@contextmanager
def _reachable(directory: Path) -> Iterator[str]:
    """A short name for a directory: a socket address has at most 107 characters."""
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{opened}"
    finally:
        os.close(opened)
