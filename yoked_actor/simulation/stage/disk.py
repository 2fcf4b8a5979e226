"""The disk under the server: every connection of SQLite, with faults put in from outside.

The server's own code has no hook for faults. While a disk is installed, `sqlite3.connect` makes
connections of a class that asks the disk before each statement. The disk can refuse a statement, be
full for a while, be slow for a while, or drop the process between two statements.

SQLite syncs the write-ahead log at each commit of a connection whose `synchronous` is FULL. The
disk notes whether a connection has written with less: what was not synced is lost with the power.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

import trio

from yoked_actor.store import InlineRunner

T = TypeVar("T")
Drop = Callable[[str, Callable[[], object] | None], None]
"""Drops the process: gets the statement, and how to execute it first if the write is torn."""
CLAIM = "status = 'in_progress',"
"""What a statement that claims a job contains, and no other."""
_FULL = 2
"""`PRAGMA synchronous` of a connection whose commits are on the disk when they return."""
_READS = ("SELECT", "PRAGMA", "BEGIN", "ROLLBACK", "SAVEPOINT", "RELEASE", "WITH", "EXPLAIN")


class Image(NamedTuple):
    """The files as a loss of power leaves them."""

    database: bytes
    log: bytes


class Disk:
    """What the connections ask. One for each process that is simulated."""

    def __init__(self) -> None:
        self.is_dead = False
        """Whether the process was dropped: nothing that it still does reaches the file."""
        self.is_full = False
        self.slow_s = 0.0
        """How long each call of the store takes."""
        self.statements = 0
        self.refused = 0
        """How many statements were refused."""
        self.is_synced = True
        """Whether every connection that has written syncs its commits."""
        self.on_refuse: Callable[[], None] = _do_nothing
        self._fail_in: int | None = None
        self._fail_code = sqlite3.SQLITE_IOERR
        self._drop_in: int | None = None
        self._drop: Drop | None = None
        self._is_torn = False
        self._awaited: tuple[str, Callable[[], None]] | None = None
        self._stall: tuple[int, float, Callable[[], None]] | None = None
        self._stalled_until_s = -1.0

    def fail_statement(self, after: int, code: str) -> None:
        """Refuse one statement, the one after so many others; `code` such as SQLITE_IOERR."""
        self._fail_in, self._fail_code = after, getattr(sqlite3, code)

    def drop_at_statement(self, after: int, drop: Drop, *, torn: bool = False) -> None:
        """Drop the process before the statement that comes after so many others.

        `torn`: the statement still runs, and only a part of what it writes reaches the disk.
        """
        self._drop_in, self._drop, self._is_torn = after, drop, torn

    def stall_in(self, calls: int, seconds: float, was_stalled: Callable[[], None]) -> None:
        """Let a few calls of the store pass; then none for so long, as in a stopped process."""
        self._stall = (calls, seconds, was_stalled)

    async def wait(self) -> None:
        """Wait as long as a call of the store has to wait before it runs."""
        if self._stall is not None:
            calls, seconds, was_stalled = self._stall
            self._stall = (calls - 1, seconds, was_stalled) if calls else None
            if self._stall is None:
                self._stalled_until_s = trio.current_time() + seconds
                was_stalled()
        if self.slow_s:
            await trio.sleep(self.slow_s)
        if self._stalled_until_s > trio.current_time():
            await trio.sleep_until(self._stalled_until_s)

    def when_changed(self, text: str, then: Callable[[], None]) -> None:
        """Call something after the next statement that contains a text and has changed rows."""
        self._awaited = (text, then)

    def run(self, sql: str, execute: Callable[[], T]) -> T:
        """Execute a statement, unless it does not reach the file."""
        self.statements += 1
        if self.is_dead:
            raise _error("the process was dropped", sqlite3.SQLITE_IOERR)
        if self._drop is not None and self._drop_in is not None:
            self._drop_in -= 1
            if self._drop_in < 0:
                drop, self._drop_in, self._drop = self._drop, None, None
                drop(sql.lstrip()[:40], execute if self._is_torn else None)
                raise _error("the process was dropped", sqlite3.SQLITE_IOERR)
        self._refuse(sql)
        return execute()

    def changed(self, sql: str) -> None:
        """A statement has changed rows, and another one follows it."""
        if self._awaited is not None and self._awaited[0] in sql:
            (_, then), self._awaited = self._awaited, None
            then()

    def _refuse(self, sql: str) -> None:
        if self._fail_in is not None:
            self._fail_in -= 1
            if self._fail_in < 0:
                self._fail_in = None
                self._count_refused()
                raise _error("a statement was refused", self._fail_code)
        if self.is_full and not sql.lstrip().upper().startswith(_READS):
            self._count_refused()
            raise _error("database or disk is full", sqlite3.SQLITE_FULL)

    def _count_refused(self) -> None:
        self.refused += 1
        self.on_refuse()


class _Connection(sqlite3.Connection):
    disk: Disk
    is_checked = False
    known_changes = 0
    last_sql = ""

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        plain = super().execute
        if not self.is_checked and not sql.lstrip().upper().startswith(_READS):
            self.is_checked = True
            (level,) = plain("PRAGMA synchronous").fetchone()
            self.disk.is_synced = self.disk.is_synced and level >= _FULL
        # SQLite counts the changes of a statement when its last row was fetched.
        if self.total_changes != self.known_changes:
            self.known_changes = self.total_changes
            self.disk.changed(self.last_sql)
        self.last_sql = sql
        return self.disk.run(sql, lambda: plain(sql, *args))

    def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
        plain = super().executemany
        return self.disk.run(sql, lambda: plain(sql, *args))

    def executescript(self, sql: str) -> sqlite3.Cursor:
        plain = super().executescript
        return self.disk.run(sql, lambda: plain(sql))


def _do_nothing() -> None:
    pass


def _error(text: str, code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


@contextmanager
def installed(find: Callable[[], Disk]) -> Iterator[None]:
    """Put disks under all connections that are made; `find` names the disk of each."""
    connect, run = sqlite3.connect, InlineRunner.run

    def connect_through(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        disk = find()
        connection = connect(*args, **kwargs, factory=_Connection)
        assert isinstance(connection, _Connection)
        connection.disk = disk
        return connection

    async def run_slowly(runner: InlineRunner, fn: Callable[[], T]) -> T:
        await find().wait()
        return await run(runner, fn)

    setattr(sqlite3, "connect", connect_through)  # noqa: B010
    setattr(InlineRunner, "run", run_slowly)  # noqa: B010
    try:
        yield
    finally:
        setattr(sqlite3, "connect", connect)  # noqa: B010
        setattr(InlineRunner, "run", run)  # noqa: B010


class Files:
    """The files of the database, held open for images.

    To close a file that SQLite has open would drop the locks that SQLite has on it, so each file
    stays open until the end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: list[int] = []
        self._used: list[int] = []

    def follow(self) -> None:
        """Open the files as they are now."""
        self._used += self._open
        self._open = [os.open(name, os.O_RDONLY) for name in (self._path, f"{self._path}-wal")]

    def image(self) -> Image:
        """The files now."""
        return Image(*(os.pread(file, os.fstat(file).st_size, 0) for file in self._open))

    def torn_image(
        self, execute: Callable[[], object], random: Random, *, is_synced: bool = True
    ) -> Image:
        """The files after a write of which only a part reached the disk.

        Without syncs only a part of the whole log is there.
        """
        before = self.image()
        execute()
        after = self.image()
        if not is_synced:
            return Image(before.database, after.log[: random.randrange(len(after.log) + 1)])
        if len(after.log) <= len(before.log):
            return before
        return Image(
            before.database, after.log[: random.randrange(len(before.log), len(after.log))]
        )

    def put_back(self, image: Image) -> None:
        """Replace the files, when no process has them open."""
        for name in (f"{self._path}-wal", f"{self._path}-shm"):
            Path(name).unlink(missing_ok=True)
        self._path.write_bytes(image.database)
        Path(f"{self._path}-wal").write_bytes(image.log)

    def close(self) -> None:
        """Close all of them, when no process has them open."""
        for file in self._used + self._open:
            os.close(file)
        self._used, self._open = [], []
