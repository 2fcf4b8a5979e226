"""Opening the store: lock, migrate, and prepare the connections."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, nullcontext
from pathlib import Path
from typing import Literal

import trio

from yoked_actor.domain.time import ReadMachineTime
from yoked_actor.store.engine import (
    Batch,
    Checkpoints,
    DirectoryLock,
    OpenFiles,
    Runner,
    SqliteDatabase,
    SqliteTransactions,
    StoreUnavailable,
    Writer,
    WriteTurns,
    check_is_current,
    connect,
    connect_for_writing,
    explained,
    migrate,
    reserve_wal,
    statement,
)
from yoked_actor.store.jobs import LeaseClock, open_lease_clock
from yoked_actor.store.store import Store

_CLOCK = statement("engine/clock")
_UNREACHABLE = "(start PostgreSQL, or correct store.url)"


@asynccontextmanager
async def open_store(
    path: Path | None,
    *,
    runner: Runner,
    busy_timeout_s: float = 1.0,
    checkpoint_pages: int = 4000,
    reserve: bool = False,
    max_pending: int = 10_000,
    max_batch: int = 1_000,
    shared: bool = False,
    machine: ReadMachineTime | None = None,
    observer: Callable[[Batch], None] | None = None,
    url: str = "",
    connect_timeout_s: float = 5.0,
    several: bool = False,
    lease_s: float | None = None,
    migrating: Callable[[int, str], None] | None = None,
) -> AsyncIterator[Store]:
    """Open (or create) the database at `path`, in memory when None; on exit all is written.

    With a `url` the database is on PostgreSQL, and `path` is not used; `several` servers may then
    have it open, otherwise `DatabaseInUse` is raised. A process that is paused in a transaction
    loses it within the life of a lease (`lease_s`), so that others can take its rooms.

    Raises `DataDirectoryInUse`, `DatabaseTooNew` or `DatabaseCorrupt`. `shared` opens a database
    that a server may have open too: it has to exist and be up to date, and no start is counted.
    With `reserve` the WAL has its full length before the first commit, and after it was truncated.
    `machine` reads the time by which leases are judged; without it that is the `now` of each call.
    `observer` is called after every transaction, `migrating` with the version and the name of each
    migration of an existing database, before it is applied; on a large one that takes a while.
    """
    if url:
        async with _open_postgres(
            url,
            runner,
            lock_timeout_s=busy_timeout_s,
            timeout_s=connect_timeout_s,
            max_pending=max_pending,
            max_batch=max_batch,
            shared=shared,
            several=several,
            lease_s=lease_s,
            machine=machine,
            observer=observer,
            migrating=migrating,
        ) as store:
            yield store
        return
    reader_runner = runner.beside() if path is not None else runner
    with nullcontext() if path is None or shared else DirectoryLock(path.parent):
        with explained(path):
            connection, reader, boot, leases = await runner.run(
                lambda: _open(
                    path,
                    busy_timeout_s=busy_timeout_s,
                    checkpoint_pages=checkpoint_pages,
                    reserve=reserve,
                    with_reader=reader_runner is not runner,
                    shared=shared,
                    machine=machine,
                    migrating=migrating,
                )
            )
        files = OpenFiles(path)
        turns = WriteTurns(None if path is None else path.parent, patience_s=busy_timeout_s)
        checkpoints = Checkpoints(connection, turns, checkpoint_pages) if shared else None
        writer = Writer(
            SqliteTransactions(connection, check=files.check, turns=turns, checkpoints=checkpoints),
            runner,
            max_pending=max_pending,
            max_batch=max_batch,
            observer=observer,
        )
        reserved = checkpoint_pages if reserve else 0
        database = SqliteDatabase(
            path, writer, connection, runner, reader, reader_runner, files, reserved
        )
        store = Store(database, boot, leases)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(writer.run)
            try:
                yield store
            finally:
                await store.aclose()
                turns.close()


def _open(
    path: Path | None,
    *,
    busy_timeout_s: float,
    checkpoint_pages: int,
    reserve: bool,
    with_reader: bool,
    shared: bool,
    machine: ReadMachineTime | None,
    migrating: Callable[[int, str], None] | None,
) -> tuple[sqlite3.Connection, sqlite3.Connection, int, LeaseClock]:
    """The writing connection, the reading one, the number of this start, and the lease clock."""
    with ExitStack() as opened:
        if shared:
            check_is_current(path, busy_timeout_s=busy_timeout_s)
        connection = connect_for_writing(
            path, busy_timeout_s=busy_timeout_s, checkpoint_pages=checkpoint_pages
        )
        opened.callback(connection.close)
        if not shared:
            migrate(connection, path, migrating)
        connection.executescript(statement("lobby/intake"))
        (boot,) = connection.execute(
            statement("engine/boot" if shared else "engine/start")
        ).fetchone()
        leases = LeaseClock()
        if machine is not None:
            leases = open_lease_clock(connection, machine, is_server=not shared)
        if reserve and path is not None:
            reserve_wal(connection, path, checkpoint_pages)
        reader = connection
        if with_reader:
            reader = connect(path, busy_timeout_s=busy_timeout_s)
            opened.callback(reader.close)
            reader.execute("PRAGMA query_only = ON")
        opened.pop_all()
    return connection, reader, boot, leases


@asynccontextmanager
async def _open_postgres(
    url: str,
    runner: Runner,
    *,
    lock_timeout_s: float,
    timeout_s: float,
    max_pending: int,
    max_batch: int,
    shared: bool,
    several: bool,
    lease_s: float | None,
    machine: ReadMachineTime | None,
    observer: Callable[[Batch], None] | None,
    migrating: Callable[[int, str], None] | None,
) -> AsyncIterator[Store]:
    from yoked_actor.store.engine import postgres

    def make_link() -> postgres.Link:
        return postgres.Link(
            url, timeout_s=timeout_s, lock_timeout_s=lock_timeout_s, lease_s=lease_s
        )

    def prepare(connection: postgres.Connection) -> int:
        if shared:
            postgres.check_postgres_is_current(connection, link.where)
        else:
            postgres.migrate_postgres(connection, link.where, migrating)
        tx = postgres.PostgresTx(connection)
        (boot,) = tx.execute(statement("engine/boot" if shared else "engine/start")).fetchone()
        return int(boot)

    lock: Literal["exclusive", "shared"] | None = "shared" if several else "exclusive"
    if shared:
        lock = None
    link = make_link()
    try:
        with postgres.explained(link.where):
            session = await runner.run(lambda: postgres.Session(link, prepare, lock=lock))
    except StoreUnavailable as error:
        raise StoreUnavailable(f"{error} {_UNREACHABLE}") from error
    writer = Writer(
        postgres.PostgresTransactions(session),
        runner,
        max_pending=max_pending,
        max_batch=max_batch,
        observer=observer,
    )
    # The bell shares the link of the reader: it notices at once that the database is away.
    reads = make_link()
    database = postgres.PostgresDatabase(session, writer, runner, reads, runner.beside())
    async with trio.open_nursery() as nursery:
        nursery.start_soon(writer.run)
        try:
            leases = LeaseClock()
            if machine is not None:
                # Servers on several machines judge leases by the clock of the database.
                at = await database.read(lambda tx: tx.execute(_CLOCK).fetchone()[0])
                leases = LeaseClock(machine, at - machine().uptime)
            bell = postgres.Bell(database, reads, runner.beside(), session.number)
            yield Store(database, session.boot, leases, bell)
        finally:
            await database.aclose()
