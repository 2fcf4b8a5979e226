"""The SQLite store: one file, one writer, a reader beside it.

Durable means durable: write-ahead log with `synchronous=FULL`. A commit is one statement (see
`lobby/sql/intake.sql`), encoded by the caller and queued to the writer. Reads have a connection of
their own, so that they never wait for a sync; in memory, or inline, one connection serves both.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import msgspec
import trio

from yoked_actor.domain.lobby import Changes, Known, Recovered
from yoked_actor.domain.matching import QualityReport
from yoked_actor.domain.people import Person, Report, ReportLimits
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import (
    Batch,
    DirectoryLock,
    OpenFiles,
    Runner,
    StoreError,
    Writer,
    check_is_current,
    connect,
    connect_for_writing,
    explained,
    migrate,
    read_row,
    read_rows,
    statement,
)
from yoked_actor.store.jobs import LeaseClock, ReadMachineTime, SqliteJobs, open_lease_clock
from yoked_actor.store.lobby import rows
from yoked_actor.store.offers import SqliteCalendar, SqliteOffers
from yoked_actor.store.ops import SqliteAlerts, SqliteAudit
from yoked_actor.store.people import SqlitePrivacy, add_report_in, erase_in

T = TypeVar("T")
_COMMIT = statement("lobby/commit")
_PUT_PERSON = statement("lobby/put_person")
_LOAD_PERSON = statement("lobby/load_person")
_KNOWN = statement("lobby/known")
_QUALITY = statement("lobby/quality")
_COUNT_QUALITY = statement("lobby/count_quality")
_FOLDING_S = 0.02
"""How long a cut of the log waits for those who read: nobody can write meanwhile."""


class SqliteStore:
    """A `Store` in an SQLite database. Made by `open_store`."""

    def __init__(
        self,
        path: Path | None,
        writer: Writer,
        connection: sqlite3.Connection,
        runner: Runner,
        reader: sqlite3.Connection,
        reader_runner: Runner,
        boot: int,
        leases: LeaseClock,
        files: OpenFiles,
    ) -> None:
        self._path = path
        self._writer = writer
        self._connection = connection
        self._runner = runner
        self._reader = reader
        self._reader_runner = reader_runner
        self._boot = boot
        self._closed = False
        self._files = files
        self.jobs = SqliteJobs(writer, self._read, leases)
        self.alerts = SqliteAlerts(writer, self._read)
        self.calendar = SqliteCalendar(writer, self._read)
        self.offers = SqliteOffers(writer, self._read, self._read_long)
        self.operators = SqliteAudit(writer, self._read)
        self.privacy = SqlitePrivacy(writer, self._read_long, self._fold)

    @property
    def pending_writes(self) -> int:
        """How many writes wait for their commit to begin."""
        return self._writer.pending

    async def commit(self, changes: Changes) -> None:
        """Save all or nothing; durable on return."""
        parameters = rows.commit_parameters(changes)
        if not (changes.people or changes.erased):
            await self._writer.write(lambda db: _execute(db, _COMMIT, parameters), atomic=True)
            return
        # Rare, and bound value by value: fractions and odd texts need no trip through JSON.
        people = [rows.person_row(person) for person in changes.people]

        def apply(connection: sqlite3.Connection) -> None:
            connection.executemany(_PUT_PERSON, people)
            connection.execute(_COMMIT, parameters)
            for erasure in changes.erased:
                erase_in(connection, erasure, self.privacy.found(erasure.user_id))

        await self._writer.write(apply)
        for erasure in changes.erased:
            self.privacy.forget(erasure.user_id)

    async def audit(self, who: str, action: str, subject: str, detail: str, now: Instant) -> None:
        """Record what an operator did; durable on return."""
        await self.operators.record(who, action, subject, detail, now)

    async def secret(self, name: str, made: bytes) -> bytes:
        """A secret of the server: the one that was stored first, or else this one."""

        def keep(db: sqlite3.Connection) -> bytes:
            db.execute("INSERT INTO secrets VALUES (?, ?) ON CONFLICT DO NOTHING", (name, made))
            row = db.execute("SELECT value FROM secrets WHERE name = ?", (name,)).fetchone()
            return bytes(row[0])

        return await self._writer.write(keep)

    async def add_report(self, report: Report, limits: ReportLimits) -> None:
        """Keep a report; durable on return. `TooManyReports`: nothing was stored."""
        await self._writer.write(lambda db: add_report_in(db, report, limits))

    async def load_user(self, user_id: str) -> Known:
        """All that is remembered of one user."""
        wanted = msgspec.json.encode([user_id]).decode()
        row = await self._read(lambda db: db.execute(_KNOWN, (wanted,)).fetchone())
        return rows.known_of(row)

    async def load_person(self, user_id: str) -> Person | None:
        """One user's profile."""
        row = await self._read(lambda db: db.execute(_LOAD_PERSON, (user_id,)).fetchone())
        return None if row is None else read_row(row, rows.person_of, "people")

    async def recover(self) -> Recovered:
        """What the process before left open."""
        return await self._read(lambda db: _recover(db, self._boot))

    async def quality(self, since: Instant, most: int) -> QualityReport:
        """How good the newest matches were, by group."""
        return await self._read(lambda db: _quality(db, since, most))

    def lost_files(self) -> str | None:
        """What has happened to the files of the database; None when all is well."""
        return self._files.lost()

    async def ping(self) -> None:
        """Read something small, or raise `StoreUnavailable`."""
        self._files.check()
        await self._read(lambda db: db.execute("SELECT count(*) FROM meta").fetchone())

    async def aclose(self) -> None:
        """Finish what was asked for, fold the log into the database, let go of it."""
        if self._closed:
            return
        self._closed = True
        with trio.CancelScope(shield=True):
            await self._writer.aclose()
            if self._reader is not self._connection:
                await self._reader_runner.run(self._reader.close)
            # Who leaves last folds the log into the database: SQLite sees to that. To fold it
            # earlier would keep everybody else from writing for as long as anybody reads.
            await self._runner.run(self._connection.close)

    async def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise StoreError("the store is closed")
        with explained(self._path):
            return await self._reader_runner.run(lambda: query(self._reader))

    async def _read_long(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run a query that takes its time, beside those that somebody waits for."""
        self._files.check()  # a new connection would make a new, empty file
        if self._reader is self._connection:
            return await self._read(query)
        if self._closed:
            raise StoreError("the store is closed")

        def run() -> T:
            connection = connect(self._path, busy_timeout_s=1.0)
            try:
                connection.execute("PRAGMA query_only = ON")
                return query(connection)
            finally:
                connection.close()

        with explained(self._path):
            return await self._reader_runner.beside().run(run)

    async def _fold(self) -> bool:
        """Fold the write-ahead log into the database and cut it; False while somebody reads."""
        if self._path is None:
            return True
        self._files.check()
        if self._reader is self._connection:
            return await self._read(_fold)

        def run() -> bool:
            connection = connect(self._path, busy_timeout_s=_FOLDING_S)
            try:
                return _fold(connection)
            finally:
                connection.close()

        with explained(self._path):
            return await self._reader_runner.beside().run(run)


def _fold(connection: sqlite3.Connection) -> bool:
    connection.execute(
        "PRAGMA wal_checkpoint(PASSIVE)"
    )  # most of the work, with nobody kept waiting
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _execute(connection: sqlite3.Connection, sql: str, parameters: rows.Row) -> None:
    connection.execute(sql, parameters)


def _recover(connection: sqlite3.Connection, boot: int) -> Recovered:
    connection.execute("BEGIN")  # one snapshot for all of it
    try:
        (busy,) = connection.execute(statement("lobby/busy_users")).fetchone()
        (next_number,) = connection.execute(statement("lobby/next_number")).fetchone()
        return Recovered(
            users=read_rows(connection.execute(_KNOWN, (busy,)), rows.known_of, "people"),
            matches=read_rows(
                connection.execute(statement("lobby/open_matches")), rows.match_of, "matches"
            ),
            dates=read_rows(
                connection.execute(statement("lobby/open_dates")), rows.date_of, "dates"
            ),
            next_number=next_number,
            boot=boot,
        )
    finally:
        connection.execute("ROLLBACK")


def _quality(connection: sqlite3.Connection, since: Instant, most: int) -> QualityReport:
    connection.execute("BEGIN")  # one snapshot for both
    try:
        (found,) = connection.execute(_COUNT_QUALITY, (since, most + 1)).fetchone()
        groups = connection.execute(_QUALITY, (since, most)).fetchall()
    finally:
        connection.execute("ROLLBACK")
    return QualityReport(
        matches=min(found, most),
        complete=found <= most,
        groups=[rows.group_quality_of(row) for row in groups],
    )


@asynccontextmanager
async def open_store(
    path: Path | None,
    *,
    runner: Runner,
    busy_timeout_s: float = 1.0,
    checkpoint_pages: int = 4000,
    max_pending: int = 10_000,
    max_batch: int = 1_000,
    shared: bool = False,
    machine: ReadMachineTime | None = None,
    observer: Callable[[Batch], None] | None = None,
    on_connect: Callable[[sqlite3.Connection], None] | None = None,
) -> AsyncIterator[SqliteStore]:
    """Open (or make) the database at `path`, in memory when None; on leaving all is written.

    Refuses with `DataDirectoryInUse`, `DatabaseTooNew` or `DatabaseCorrupt`. `shared` opens one
    that a server may have open too: it has to be there and up to date, and this counts as no start.
    `machine` reads the time by which leases are judged; without it that is the `now` of each call.
    `observer` is told of every transaction; `on_connect` is shown the writing connection, for
    tracing.
    """
    lock = None if path is None or shared else DirectoryLock(path.parent)
    reader_runner = runner.beside() if path is not None else runner
    try:
        with explained(path):
            connection, reader, boot, leases = await runner.run(
                lambda: _open(
                    path,
                    busy_timeout_s=busy_timeout_s,
                    checkpoint_pages=checkpoint_pages,
                    with_reader=reader_runner is not runner,
                    shared=shared,
                    machine=machine,
                    on_connect=on_connect,
                )
            )
        files = OpenFiles(path)
        writer = Writer(
            connection,
            runner,
            max_pending=max_pending,
            max_batch=max_batch,
            observer=observer,
            check=files.check,
        )
        store = SqliteStore(
            path, writer, connection, runner, reader, reader_runner, boot, leases, files
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.run)
            try:
                yield store
            finally:
                await store.aclose()
    finally:
        if lock is not None:
            lock.release()


def _open(
    path: Path | None,
    *,
    busy_timeout_s: float,
    checkpoint_pages: int,
    with_reader: bool,
    shared: bool,
    machine: ReadMachineTime | None,
    on_connect: Callable[[sqlite3.Connection], None] | None,
) -> tuple[sqlite3.Connection, sqlite3.Connection, int, LeaseClock]:
    """The writing connection, ready for work, the reading one, the number of this start, and the
    clock of leases."""
    with ExitStack() as opened:
        if shared:
            check_is_current(path, busy_timeout_s=busy_timeout_s)
        connection = connect_for_writing(
            path, busy_timeout_s=busy_timeout_s, checkpoint_pages=checkpoint_pages
        )
        opened.callback(connection.close)
        if not shared:
            migrate(connection, path)
        connection.executescript(statement("lobby/intake"))
        (boot,) = connection.execute(
            statement("engine/boot" if shared else "engine/start")
        ).fetchone()
        leases = LeaseClock()
        if machine is not None:
            leases = open_lease_clock(connection, machine, is_server=not shared)
        reader = connection
        if with_reader:
            reader = connect(path, busy_timeout_s=busy_timeout_s)
            opened.callback(reader.close)
            reader.execute("PRAGMA query_only = ON")
        if on_connect is not None:
            on_connect(connection)
        opened.pop_all()
    return connection, reader, boot, leases
