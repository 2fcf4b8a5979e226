"""A bell between processes on one data directory: who enqueues rings, whoever dispatches wakes.

SQLite tells nobody about a write. Each process that dispatches listens on a datagram socket beside
the database, and each that changes the queue sends a byte to all of them. A ring that is lost costs
time and nothing else: at its next due instant a dispatcher looks for itself.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import trio

_PREFIX, _SUFFIX = "jobs-", ".bell"


def ring(directory: Path) -> None:
    """Wake the dispatchers of other processes; never blocks, never raises."""
    own = f"{_PREFIX}{os.getpid()}{_SUFFIX}"
    try:
        bells = [name for name in os.listdir(directory) if _is_bell(name) and name != own]
        if not bells:
            return
        with _reachable(directory) as prefix, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.setblocking(False)
            for name in bells:
                try:
                    s.sendto(b"!", f"{prefix}/{name}")
                except ConnectionRefusedError:
                    (directory / name).unlink(missing_ok=True)  # its process was killed
                except OSError:
                    pass  # it is being rung already, or is leaving
    except OSError:
        pass


async def listen(directory: Path, rung: Callable[[], None]) -> None:
    """Call `rung` whenever another process rings."""
    name = f"{_PREFIX}{os.getpid()}{_SUFFIX}"
    (directory / name).unlink(missing_ok=True)
    bell = trio.socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        with _reachable(directory) as prefix:
            await bell.bind(f"{prefix}/{name}")
        (directory / name).chmod(0o600)
        while True:
            await bell.recv(1)
            rung()
    finally:
        bell.close()
        (directory / name).unlink(missing_ok=True)


def _is_bell(name: str) -> bool:
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


@contextmanager
def _reachable(directory: Path) -> Iterator[str]:
    """A short name for a directory: the address of a socket has 107 characters at most."""
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{opened}"
    finally:
        os.close(opened)
