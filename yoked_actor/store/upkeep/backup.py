"""Backups: taken while a server runs, sealed with a digest, and checked before use.

A backup is one SQLite file with a seal after its last page: the SHA-256 of all bytes before it.
SQLite does not read beyond the last page, so the file can be opened as a database. The seal detects
a changed byte even where SQLite itself finds nothing wrong.
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

from yoked_actor.store.engine import (
    StoreError,
    StoreUnavailable,
    connect,
    explained,
    newest_schema,
    schema_of,
)

Progress = Callable[[int, int], None]
"""Called with the number of pages copied so far, and of all pages."""

HEADER = b"SQLite format 3\x00"
SEAL = b"yoked-actor backup 1\n"
SEAL_BYTES = len(SEAL) + 32
OUR_TABLES = frozenset({"meta", "people", "seats", "matches", "dates", "met", "blocks", "reports"})
_STEP_PAGES = 100
_CHUNK = 1 << 20


class BadBackup(StoreError):
    """A file that is not a valid backup, and why."""


class Checked(msgspec.Struct, frozen=True):
    """What is known about a valid backup."""

    version: int
    """The version of the schema."""
    pages: int
    size: int
    sealed: bool


def back_up(
    database: Path, target: Path, *, busy_timeout_s: float, progress: Progress | None = None
) -> Checked:
    """Copy one snapshot of a database, also while a server runs, and check the copy.

    It appears under its name only when it is complete and durable.
    """
    if not database.exists():
        raise StoreUnavailable(f"there is no database at {database}")
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    with explained(database), _removed_on_failure(draft):
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with (
            closing(connect(database, busy_timeout_s=busy_timeout_s)) as source,
            closing(connect(draft, busy_timeout_s=busy_timeout_s)) as copy,
        ):
            # A read transaction holds the snapshot. Without one, every commit of the server would
            # restart the copy, and under load it would never end.
            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            source.backup(
                copy,
                pages=_STEP_PAGES,
                progress=lambda _, left, whole: progress and progress(whole - left, whole),
            )
            source.execute("ROLLBACK")
            # One file, without a WAL.
            copy.execute("PRAGMA journal_mode = DELETE")
        _seal(draft)
        checked = check_backup(draft)
        draft.replace(target)
        sync_directory(target.parent)
    return checked


def check_backup(file: Path) -> Checked:
    """Check that a file is an intact database that this program can read, or raise `BadBackup`."""
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
    newest = newest_schema()
    try:
        # Immutable: this file alone is checked, and no other file is written.
        location = f"{file.resolve().as_uri()}?mode=ro&immutable=1"
        with closing(sqlite3.connect(location, uri=True)) as db:
            version = schema_of(db)
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


def restore_backup(file: Path, database: Path, moment: str) -> tuple[Checked, Path | None]:
    """Replace a database with a backup; returns where the previous database is kept, if any.

    The caller holds the lock of the directory. A crash at any point leaves one or the other.
    """
    checked = check_backup(file)
    draft = database.with_name(f"{database.name}.restoring")
    with explained(database), _removed_on_failure(draft):
        _copy(file, draft, checked.size - (SEAL_BYTES if checked.sealed else 0))
        _carry_over_boot(database, draft)
        _sync(draft)
        aside = None
        if database.exists():
            aside = database.with_name(f"{database.name}.before-restore-{moment}")
            _checkpoint(database)
            aside.hardlink_to(database)
            for suffix in ("-wal", "-shm"):
                with suppress(FileNotFoundError):
                    os.replace(f"{database}{suffix}", f"{aside}{suffix}")
        draft.replace(database)
        sync_directory(database.parent)
    return checked, aside


def sync_directory(directory: Path) -> None:
    """Make new names in a directory durable."""
    opened = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _carry_over_boot(database: Path, draft: Path) -> None:
    """Keep the greater number of starts: session ids are made from it, and the ids that clients
    still hold must not be used again."""
    boot = 0
    if database.exists():
        with (
            suppress(sqlite3.Error, TypeError),
            closing(connect(database, busy_timeout_s=1)) as old,
        ):
            (boot,) = old.execute("SELECT value FROM meta WHERE name = 'boot'").fetchone()
    with closing(connect(draft, busy_timeout_s=0)) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("UPDATE meta SET value = max(value, ?) WHERE name = 'boot'", (boot,))


def _checkpoint(database: Path) -> None:
    """Checkpoint the WAL into the previous database, so that the file is complete by itself."""
    # A database that is too damaged for that is kept as it is, with its WAL.
    with suppress(sqlite3.Error), closing(connect(database, busy_timeout_s=1)) as old:
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
    """The digest of a file without its seal, and the digest in the seal, if there is one."""
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


@contextmanager
def _removed_on_failure(draft: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{draft}{suffix}").unlink(missing_ok=True)
        raise
