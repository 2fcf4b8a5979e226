"""The checks of the data directory, its disk and its files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from yoked_actor.app.base import DATABASE
from yoked_actor.app.doctor.database import check_database
from yoked_actor.app.doctor.finding import Finding
from yoked_actor.domain.time import Instant, tzdata_version
from yoked_actor.store import engine_version, holder_of

_LEAST_FREE = 256 * 1024 * 1024
_LARGE_LOG = 256 * 1024 * 1024


def examine_data(directory: Path, now: Instant, *, full: bool) -> Iterator[Finding]:
    """Check the data directory and its files."""
    found = list(_directory(directory))
    yield from found
    if not directory.is_dir() or any(finding.result == "problem" for finding in found):
        return
    yield _disk(directory)
    holder = holder_of(directory)
    process = f" (process {holder})" if holder else ""
    running = "no server runs here" if holder is None else f"a server runs here{process}"
    yield Finding("server", "ok", running)
    yield Finding("time zones", "ok", f"tzdata {tzdata_version()}, {engine_version()}")
    database = directory / DATABASE
    if not database.exists():
        yield Finding("database", "note", f"{database} is not there yet", "a server creates it")
        return
    yield _log_size(database)
    yield from check_database(database, now, full=full, is_served=holder is not None)


def _directory(directory: Path) -> Iterator[Finding]:
    if not directory.exists():
        yield Finding(
            "data directory",
            "note",
            f"{directory} is not there yet",
            "a server creates it; check --data or server.data_dir",
        )
        return
    if not directory.is_dir():
        yield Finding("data directory", "problem", f"{directory} is no directory", "move it away")
        return
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            "data directory",
            "problem",
            f"{directory} cannot be written to by user {os.geteuid()}",
            f"chown -R it to the user that the server runs as (it is user {os.getuid()} here)",
        )
        return
    owner = directory.stat().st_uid
    strangers = [
        entry.name
        for entry in sorted(directory.iterdir())
        if entry.name.startswith("yoked.") and entry.stat().st_uid != owner
    ]
    if strangers:
        yield Finding(
            "data directory",
            "problem",
            f"{', '.join(strangers)} in {directory} belong to another user than it does",
            f"chown them to user {owner}, or the server cannot write them",
        )
    elif directory.stat().st_mode & 0o077:
        yield Finding(
            "data directory", "note", f"{directory} is open to others", f"chmod 700 {directory}"
        )
    else:
        yield Finding("data directory", "ok", str(directory))


def _disk(directory: Path) -> Finding:
    usage = shutil.disk_usage(directory)
    database = directory / DATABASE
    size = database.stat().st_size if database.exists() else 0
    text = f"{_megabytes(usage.free)} free, the database has {_megabytes(size)}"
    if usage.free < max(_LEAST_FREE, size):
        return Finding(
            "disk", "problem", text, "make room: a log or a backup may need as much as the database"
        )
    return Finding("disk", "ok", text)


def _log_size(database: Path) -> Finding:
    log = Path(f"{database}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        return Finding(
            "log",
            "problem",
            f"{log.name} has {_megabytes(size)}",
            "a long read keeps SQLite from checkpointing it: look for programs that have it open,"
            " and restart the server if there is none",
        )
    return Finding("log", "ok", f"{log.name} has {_megabytes(size)}")


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB"
