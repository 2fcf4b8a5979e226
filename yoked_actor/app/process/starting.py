"""Shared by the commands that start a server."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import os
import socket
import ssl
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
import structlog

from yoked_actor.edge.auth import NoSigningKey
from yoked_actor.settings import Settings, SettingsError, load_settings
from yoked_actor.store import (
    DatabaseCorrupt,
    DatabaseInUse,
    DatabaseTooNew,
    DataDirectoryInUse,
    NodeIdTaken,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
)

_log = structlog.get_logger()

_MENDABLE = (
    *(DataDirectoryInUse, DatabaseInUse, DatabaseTooNew, NodeIdTaken, StoreMisconfigured),
    *(StoreUnavailable, NoSigningKey, ssl.SSLError, OSError),
)
"""Errors that the deployer can fix: the one line that is shown says how."""


def settings_of(file: Path | None, flags: Mapping[str, Mapping[str, object]]) -> Settings:
    """The settings, or a `ClickException` that says what is wrong with them."""
    try:
        return load_settings(file, os.environ, flags)
    except SettingsError as error:
        raise click.ClickException(str(error)) from None


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Show errors that the deployer can fix in one line; log all others as a crash.

    A database that is damaged or lacks a table gets its line too, and an entry in the log: somebody
    has to find out how that came to be.
    """
    try:
        try:
            yield
        except* (StoreError, *_MENDABLE) as group:
            first: BaseException = group
            while isinstance(first, BaseExceptionGroup):
                first = first.exceptions[0]
            if not isinstance(first, _MENDABLE):
                # The line says everything about a damaged file; a traceback would not help.
                trace = None if isinstance(first, DatabaseCorrupt) else first
                _log.critical("store_failed", error=str(first), exc_info=trace)
            raise click.ClickException(str(first)) from None
    except click.ClickException:
        raise
    except BaseExceptionGroup as group:
        only = group.exceptions[0] if len(group.exceptions) == 1 else None
        if isinstance(only, click.ClickException):
            raise only from None
        _log.critical("crashed", exc_info=True)
        sys.exit(70)
    except Exception:
        _log.critical("crashed", exc_info=True)
        sys.exit(70)


def tune_interpreter(switch_interval_s: float = 0.0002) -> None:
    """Run the garbage collector rarely, and switch threads often.

    Almost nothing here is cyclic (`tests/edge/test_garbage.py` checks that), and everybody who
    waits is a few objects more to look at: with ten thousand in line, a server that looks rarely
    did half as much again (docs/performance.md).
    What is new is looked at in small parts, because nothing else runs meanwhile.
    A thread that reads the people of a large zone, or computes its offers, would keep each commit
    waiting many times for the default of 5 ms, because a commit is many calls that give up the
    interpreter. Other processes wait for a commit, too. The event loop itself is such a thread when
    it runs many jobs: with 0.2 ms it ran 48,600 a second, with 1 ms 41,600 (medians of nine).
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 100, 20)
    sys.setswitchinterval(switch_interval_s)


def worker_command(config_file: Path | None, data_dir: Path) -> list[str]:
    """The command that starts the worker process of a server, with the server's settings.

    Environment variables are inherited. The one-file binary is a program itself.
    """
    is_binary = getattr(sys, "frozen", False)
    program = [sys.executable] if is_binary else [sys.executable, "-m", "yoked_actor"]
    config = [] if config_file is None else ["--config", str(config_file)]
    return [*program, "worker", "--supervised", "--data", str(data_dir), *config]


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_of(listeners: Sequence[socket.socket], *, secure: bool = False) -> str:
    """The URL of the server."""
    host, port = listeners[0].getsockname()[:2]
    scheme = "https" if secure else "http"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"
