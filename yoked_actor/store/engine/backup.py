"""Copies of the database: taken while a server runs, sealed, and trusted only after a check.

A backup is one SQLite file with a seal behind its last page: the SHA-256 of all bytes before it.
SQLite does not read what lies behind the last page, so the file can be opened like any other, and
a byte that flips on the way is found even where SQLite itself would see nothing wrong.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from yoked_actor.store.engine.errors import StoreError, StoreUnavailable
from yoked_actor.store.engine.opening import migrations

Progress = Callable[[int, int], None]
"""Told how many pages of how many are copied."""

HEADER = b"SQLite format 3\x00"
SEAL = b"yoked-actor backup 1\n"
SEAL_BYTES = len(SEAL) + 32
OUR_TABLES = frozenset({"meta", "people", "seats", "matches", "dates", "met", "blocks", "reports"})
_STEP_PAGES = 100
_CHUNK = 1 << 20


class BadBackup(StoreError):
    """A file that is not restored, and why."""


class Checked(msgspec.Struct, frozen=True):
    """What is known of a file that was found good."""

    version: int
    """Of the schema."""
    pages: int
    size: int
    sealed: bool


def back_up(
    database: Path, target: Path, *, busy_timeout_s: float, progress: Progress | None = None
) -> Checked:
    """Copy a database as of one instant, also under a running server; the copy is checked.

    It appears under its name when it is whole and on the disk, and not before.
    """
    if not database.exists():
        raise StoreUnavailable(f"there is no database at {database}")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    with _removed_on_failure(draft):
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with (
            closing(_connect(database, busy_timeout_s)) as source,
            closing(_connect(draft, busy_timeout_s)) as copy,
        ):
            # A reading transaction holds the snapshot. Without one, every commit of the server
            # would make the copy begin anew, and under load it would never end.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            source.backup(
                copy,
                pages=_STEP_PAGES,
                progress=lambda _, left, whole: progress and progress(whole - left, whole),
            )
            source.execute("ROLLBACK")
            # One file that needs no log beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
        _seal(draft)
        checked = check(draft)
        draft.replace(target)
        sync_directory(target.parent)
    return checked


def check(file: Path) -> Checked:
    """Look whether a file is a whole, sound database of ours that we can read, or `BadBackup`."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            head = opened.read(100)
            digest, seal = _digest(opened, size)
    except OSError as error:
        raise BadBackup(f"{file} cannot be read: {error}") from error
    if size == 0:
        raise BadBackup(f"{file} is empty")
    if not head.startswith(HEADER) or len(head) < 100:
        raise BadBackup(f"{file} is not an SQLite database")
    if seal is not None and seal != digest:
        raise BadBackup(
            f"{file} was changed or damaged since it was made: its content does not have the"
            " digest that it was sealed with"
        )
    page_size = int.from_bytes(head[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    pages = int.from_bytes(head[28:32], "big")
    if page_size < 512 or size < pages * page_size:
        raise BadBackup(
            f"{file} is cut off: {pages} pages of {page_size} bytes should be in it, and it has"
            f" {size} bytes"
        )
    return _check_content(file, pages, size, seal is not None)


def _check_content(file: Path, pages: int, size: int, sealed: bool) -> Checked:
    newest = migrations()[-1][0]
    try:
        # Immutable: what is checked is this file, and nothing is written beside it.
        location = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(location, uri=True)) as db:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            tables = {
                name
                for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
            }
            if not tables >= OUR_TABLES or version < 1:
                raise BadBackup(f"{file} is a database, but none of yoked-actor's")
            if version > newest:
                raise BadBackup(
                    f"{file} was written by a newer version (schema {version}, this program knows"
                    f" {newest}); upgrade yoked-actor first"
                )
            problems = [text for (text,) in db.execute("PRAGMA integrity_check(5)")]
    except sqlite3.Error as error:
        raise BadBackup(f"{file} is damaged: {error}") from error
    if problems != ["ok"]:
        raise BadBackup(f"{file} is damaged: {'; '.join(problems)}")
    return Checked(version, pages, size, sealed)


def restore(file: Path, database: Path, moment: str) -> tuple[Checked, Path | None]:
    """Put a checked file in the place of a database; where the one before is kept, if there was.

    The caller holds the lock of the directory. A crash at any point leaves the one or the other.
    """
    checked = check(file)
    draft = database.with_name(f"{database.name}.restoring")
    with _removed_on_failure(draft):
        _copy(file, draft, checked.size - (SEAL_BYTES if checked.sealed else 0))
        _carry_over_boot(database, draft)
        _sync(draft)
        aside = None
        if database.exists():
            aside = database.with_name(f"{database.name}.before-restore-{moment}")
            _fold(database)
            aside.hardlink_to(database)
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{database}{suffix}", f"{aside}{suffix}")
        draft.replace(database)
        sync_directory(database.parent)
    return checked, aside


def sync_directory(directory: Path) -> None:
    """Make a new name in a directory durable."""
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _carry_over_boot(database: Path, draft: Path) -> None:
    """Go on counting starts from the greater number: ids of sessions are made from it, and those
    of clients that are still around must not come again."""
    boot = 0
    if database.exists():
        with suppress(sqlite3.Error, TypeError), closing(_connect(database, 1)) as old:
            (boot,) = old.execute("SELECT value FROM meta WHERE name = 'boot'").fetchone()
    with closing(_connect(draft, 0)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("UPDATE meta SET value = max(value, ?) WHERE name = 'boot'", (boot,))


def _fold(database: Path) -> None:
    """Bring what is in the log into the old database, so that it can stand alone."""
    # One that is too damaged for that is kept as it is, with its log beside it.
    with suppress(sqlite3.Error), closing(_connect(database, 1)) as old:
        old.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _seal(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as opened:
        digest, _ = _digest(opened, size + SEAL_BYTES)
        opened.seek(size)
        opened.write(SEAL + digest)
        opened.flush()
        os.fsync(opened.fileno())


def _digest(file: BinaryIO, size: int) -> tuple[bytes, bytes | None]:
    """The digest of all but the seal of a file, and the one that its seal holds, if it has one."""
    body = size - SEAL_BYTES
    file.seek(max(body, 0))
    seal = file.read(SEAL_BYTES)
    digest, left = hashlib.sha256(), max(body, 0)
    file.seek(0)
    while left and (data := file.read(min(left, _CHUNK))):
        digest.update(data)
        left -= len(data)
    return digest.digest(), seal[len(SEAL) :] if seal.startswith(SEAL) else None


def _copy(file: Path, target: Path, size: int) -> None:
    with file.open("rb") as source:
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "wb") as copy:
            while size and (data := source.read(min(size, _CHUNK))):
                copy.write(data)
                size -= len(data)


def _sync(file: Path) -> None:
    opened = os.open(file, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _connect(file: Path, busy_timeout_s: float) -> sqlite3.Connection:
    return sqlite3.connect(file, timeout=busy_timeout_s, isolation_level=None)


@contextmanager
def _removed_on_failure(draft: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{draft}{suffix}").unlink(missing_ok=True)
        raise
