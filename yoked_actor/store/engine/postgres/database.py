"""An open PostgreSQL database: one writer, and a reader beside it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import TypeVar

import psycopg
import trio

from yoked_actor.store.engine.errors import StoreError, StoreUnavailable, explain
from yoked_actor.store.engine.postgres.session import Link, Session
from yoked_actor.store.engine.postgres.transaction import Connection, PostgresTx
from yoked_actor.store.engine.runners import Runner
from yoked_actor.store.engine.transaction import Tx
from yoked_actor.store.engine.turns import Turn
from yoked_actor.store.engine.writer import Writer

T = TypeVar("T")


class PostgresDatabase:
    """Runs reads and writes on PostgreSQL."""

    def __init__(
        self, session: Session, writer: Writer, runner: Runner, link: Link, reader_runner: Runner
    ) -> None:
        """`link` makes the connections that read."""
        self._session = session
        self._writer = writer
        self._runner = runner
        self._link = link
        self._reader_runner = reader_runner
        self._reader: Connection | None = None
        self._closed = False

    @property
    def pending_writes(self) -> int:
        """How many writes are queued; those of the commit in progress are not counted."""
        return self._writer.pending

    @property
    def no_transaction(self) -> Event:
        """Not set during a transaction that needs the interpreter lock. For every thread."""
        return self._writer.no_transaction

    def lost_files(self) -> str | None:
        """Why the database cannot be reached; None while it can."""
        return self._session.link.problem or self._link.problem

    async def write(
        self,
        apply: Callable[[Tx], T],
        *,
        atomic: bool = False,
        can_wait: bool = False,
        large: bool = False,
        turn: Turn = Turn.ALONE,
    ) -> T:
        """Run `apply` in a transaction; durable on return. See `Writer.write`."""
        return await self._writer.write(
            apply, atomic=atomic, can_wait=can_wait, large=large, turn=turn
        )

    async def read(self, query: Callable[[Tx], T]) -> T:
        """Run a short query. It waits for the reads before it, and for no write.

        Checkpoints. Can be cancelled until the query begins; then its result is returned.
        """
        if self._closed:
            raise StoreError("the store is closed")
        return await self._reader_runner.run(lambda: self._read(query))

    async def read_long(self, query: Callable[[Tx], T]) -> T:
        """Run a long query on a connection of its own, so that `read` does not wait for it.

        Checkpoints. Can be cancelled until the query begins; then its result is returned.
        """
        if self._closed:
            raise StoreError("the store is closed")

        def run() -> T:
            try:
                with self._connect() as connection:
                    return query(PostgresTx(connection))
            except psycopg.Error as error:
                raise explain(error, self._link.where) from error

        return await self._reader_runner.beside().run(run)

    async def truncate_log(self) -> bool:
        """The log is the database server's own."""
        await trio.lowlevel.checkpoint()
        return True

    async def clear_free_space(self, text: str, most_bytes: int) -> bool:
        """PostgreSQL overwrites deleted rows after its own VACUUM."""
        await trio.lowlevel.checkpoint()
        return True

    async def ping(self) -> None:
        """Read one row, or raise `StoreUnavailable`."""
        problem = self._session.link.problem
        if problem is not None:
            raise StoreUnavailable(problem)
        await self.read(lambda tx: tx.execute("SELECT count(*) FROM meta").fetchone())

    async def aclose(self) -> None:
        """Finish the writes that were queued, then close the connections. Is never cancelled."""
        if self._closed:
            return
        self._closed = True
        with trio.CancelScope(shield=True):
            await self._writer.aclose()
            await self._reader_runner.run(self._close_reader)
            await self._runner.run(self._session.close)

    def _read(self, query: Callable[[Tx], T]) -> T:
        is_new = self._reader is None
        try:
            return self._read_once(query)
        except StoreUnavailable:
            # A connection may have been lost while it was idle: a new one decides.
            if is_new or self._reader is not None:
                raise
            return self._read_once(query)

    def _read_once(self, query: Callable[[Tx], T]) -> T:
        if self._reader is None:
            self._reader = self._connect()
        try:
            return query(PostgresTx(self._reader))
        except psycopg.Error as error:
            if self._reader.closed:
                self._close_reader()
            raise explain(error, self._link.where) from error

    def _connect(self) -> Connection:
        connection = self._link.connect("yoked-actor reads")
        connection.execute("SET default_transaction_read_only = on")
        return connection

    def _close_reader(self) -> None:
        if self._reader is not None:
            with suppress(psycopg.Error):
                self._reader.close()
            self._reader = None
