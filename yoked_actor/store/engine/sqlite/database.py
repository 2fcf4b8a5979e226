"""An open SQLite database: one writer, and a reader beside it.

Durable means durable: write-ahead log with `synchronous=FULL`. Reads have a connection of their
own, so that they never wait for a sync; in memory, or inline, one connection serves both.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import TypeVar

import trio

from yoked_actor.store.engine.errors import StoreError
from yoked_actor.store.engine.runners import Runner
from yoked_actor.store.engine.sqlite.connections import connect, explained
from yoked_actor.store.engine.sqlite.free_space import is_in_free_space
from yoked_actor.store.engine.sqlite.open_files import OpenFiles
from yoked_actor.store.engine.sqlite.wal_space import reserve_wal
from yoked_actor.store.engine.sqlite.write_turns import WriteTurns
from yoked_actor.store.engine.transaction import Tx
from yoked_actor.store.engine.turns import Turn
from yoked_actor.store.engine.writer import Writer

T = TypeVar("T")
_CHECKPOINT_WAIT_S = 0.02
"""How long a truncating checkpoint waits for readers: nothing can be written meanwhile."""
_TURN_WAIT_S = 1.0
"""How long a truncation waits for its turn."""
_REWRITE_WAIT_S = 1.0
"""How long VACUUM waits for a write in progress."""


class SqliteDatabase:
    """Runs reads and writes on SQLite."""

    def __init__(
        self,
        path: Path | None,
        writer: Writer,
        connection: sqlite3.Connection,
        runner: Runner,
        reader: sqlite3.Connection,
        reader_runner: Runner,
        files: OpenFiles,
        reserved_pages: int = 0,
    ) -> None:
        """The WAL keeps space for `reserved_pages`, see `reserve_wal`."""
        self._path = path
        self._writer = writer
        self._connection = connection
        self._runner = runner
        self._reader = reader
        self._reader_runner = reader_runner
        self._files = files
        self._reserved_pages = reserved_pages
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
        """What happened to the files of the database; None when all are in place."""
        return self._files.lost()

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
        with explained(self._path):
            return await self._reader_runner.run(lambda: query(self._reader))

    async def read_long(self, query: Callable[[Tx], T]) -> T:
        """Run a long query on a connection of its own, so that `read` does not wait for it.

        Checkpoints. Can be cancelled until the query begins; then its result is returned.
        """
        self._files.check()  # a new connection would make a new, empty file
        if self._reader is self._connection:
            return await self.read(query)
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

    async def truncate_log(self) -> bool:
        """Checkpoint the WAL and truncate it; False while a reader prevents that."""
        path = self._path
        if path is None:
            return True
        self._files.check()
        if self._reader is self._connection:
            return await self.read(lambda _: self._empty_wal(self._connection, path))

        def run() -> bool:
            connection = connect(path, busy_timeout_s=_CHECKPOINT_WAIT_S)
            try:
                return self._empty_wal(connection, path)
            finally:
                connection.close()

        with explained(path):
            return await self._reader_runner.beside().run(run)

    def _empty_wal(self, connection: sqlite3.Connection, path: Path) -> bool:
        """Truncate the WAL, and reserve its space again. Blocks."""
        # Most of the work, and no process waits for it.
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        # Turns of its own: the writer has others, and waits in the same queue.
        turns = WriteTurns(path.parent, patience_s=_TURN_WAIT_S)
        try:
            with turns.turn():
                truncated = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                (is_busy, _, _) = truncated.fetchone()
                if self._reserved_pages and not is_busy:
                    reserve_wal(connection, path, self._reserved_pages)
        finally:
            turns.close()
        return not is_busy

    async def clear_free_space(self, text: str, most_bytes: int) -> bool:
        """Rewrite the file if a deleted text is in its free space; nothing is written meanwhile.

        False if the file is larger than `most_bytes`, and has the text.
        """
        path = self._path
        if path is None:
            return True
        self._files.check()

        def run() -> bool:
            if not is_in_free_space(path, text.encode()):
                return True
            if path.stat().st_size > most_bytes:
                return False
            connection = connect(path, busy_timeout_s=_REWRITE_WAIT_S)
            try:
                connection.execute("VACUUM")
            finally:
                connection.close()
            return True

        with explained(path):
            return await self._reader_runner.beside().run(run)

    async def ping(self) -> None:
        """Read one row, or raise `StoreUnavailable`."""
        self._files.check()
        await self.read(lambda tx: tx.execute("SELECT count(*) FROM meta").fetchone())

    async def aclose(self) -> None:
        """Finish the writes that were queued, then close the connections. Is never cancelled."""
        if self._closed:
            return
        self._closed = True
        with trio.CancelScope(shield=True):
            await self._writer.aclose()
            if self._reader is not self._connection:
                await self._reader_runner.run(self._reader.close)
            # The last process to close the database checkpoints the WAL. An earlier checkpoint
            # would keep other processes from writing for as long as any of them reads.
            await self._runner.run(self._connection.close)
