"""Wake-ups between processes that share a data directory.

SQLite does not notify other processes of a write. Each process that dispatches jobs listens on a
datagram socket beside the database; a process that changes the queue sends a byte to each of them.
A lost wake-up costs time and nothing else: a dispatcher also wakes when the next job is due.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

_PREFIX, _SUFFIX = "jobs-", ".bell"


def wake_other_processes(directory: Path, name: str | None = None) -> None:
    """Wake the dispatchers of other processes. Does not block or raise.

    `name` is this process's own name if it is not its id.
    """
    own = _socket_name(name)
    try:
        names = [name for name in os.listdir(directory) if _is_socket(name) and name != own]
        if not names:
            return
        with _reachable(directory) as prefix, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.setblocking(False)
            for name in names:
                try:
                    s.sendto(b"!", f"{prefix}/{name}")
                except ConnectionRefusedError:
                    (directory / name).unlink(missing_ok=True)  # its process was killed
                except OSError:
                    pass  # its buffer is full of wake-ups, or its process is stopping
    except OSError:
        pass


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
