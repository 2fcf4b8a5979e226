"""A job store on PostgreSQL that can be crashed, for the conformance suite of the queue.

PostgreSQL itself is not crashed: what it has committed is durable. A crash of the process, or a
lost connection, leaves what another connection sees at that moment. So an image is what another
connection reads between two statements of the store.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
import trio
from psycopg import sql

from tests.postgres import PostgresServer
from tests.store.job_house import FAULTS, State, state_of_store
from yoked_actor.store import Effect, InlineRunner, Jobs, Store, Tx, open_store
from yoked_actor.store.engine.postgres import PostgresDatabase

T = TypeVar("T")
Image = dict[str, bytes]
"""The rows of each table, as COPY writes them."""
_TABLES = ("jobs", "job_attempts", "job_ledger", "job_answers", "job_pauses", "dead_letter_news",
           "audit", "effects")  # fmt: skip


class PostgresJobHouse:
    """A store on a thread of its own, with a hook before each statement."""

    def __init__(self, server: PostgresServer) -> None:
        self._made = [server.database("yoked_template") for _ in range(2)]
        self._url, self._other_url = (made.__enter__() for made in self._made)
        for url in (self._url, self._other_url):
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE TABLE effects (job_id bigint NOT NULL)")
        self._observer = psycopg.connect(self._url, autocommit=True)
        self._start()

    def run(self, call: Callable[[Jobs], Awaitable[T]], crash_at: int) -> tuple[T, Image]:
        """Call the store; its answer, and what a crash after `crash_at` steps would have left."""
        self._taken: list[Image] = []
        self._countdown = crash_at
        try:
            answer = trio.from_thread.run(call, self._store.jobs, trio_token=self._token)
        finally:
            self._countdown = -1
        return answer, self._taken[0] if self._taken else self._image()

    def effect(self, job_id: int) -> Effect:
        """An effect that can be seen afterwards."""

        def apply(tx: Tx) -> None:
            tx.execute("INSERT INTO effects VALUES (?)", (job_id,))

        return apply

    def state(self) -> State:
        """What the running store holds."""
        return trio.from_thread.run(state_of_store, self._store, trio_token=self._token)

    def state_of(self, image: Image) -> tuple[State, list[str], Image]:
        """What a new process finds, what is wrong with it, and the image itself."""
        _write(self._other_url, image)

        async def look() -> State:
            async with open_store(
                None, runner=InlineRunner(), url=self._other_url, shared=True
            ) as store:
                return await state_of_store(store)

        return trio.run(look), _faults(self._other_url), image

    def faults(self) -> list[str]:
        """What is wrong with the running store."""
        return _faults(self._url)

    def restart(self, image: Image) -> None:
        """Go on from an image. Sequences go on from where they are, as after a crash."""
        self._stop()
        _write(self._url, image)
        self._start()

    def close(self) -> None:
        self._stop()
        self._observer.close()
        for made in self._made:
            made.__exit__(None, None, None)

    def _start(self) -> None:
        self._countdown = -1
        self._leave = trio.Event()
        opened: queue.SimpleQueue[tuple[Store, trio.lowlevel.TrioToken]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=trio.run, args=(self._serve, opened))
        self._thread.start()
        self._store, self._token = opened.get(timeout=30)

    def _stop(self) -> None:
        trio.from_thread.run_sync(self._leave.set, trio_token=self._token)
        self._thread.join()

    async def _serve(
        self, opened: queue.SimpleQueue[tuple[Store, trio.lowlevel.TrioToken]]
    ) -> None:
        async with open_store(None, runner=InlineRunner(), url=self._url, shared=True) as store:
            database = store._database
            assert isinstance(database, PostgresDatabase)
            database._session.connection.cursor_factory = self._watched()
            opened.put((store, trio.lowlevel.current_trio_token()))
            await self._leave.wait()

    def _watched(self) -> type[psycopg.RawCursor[Any]]:
        step = self._pass

        class Watched(psycopg.RawCursor[Any]):
            def execute(self, *args: Any, **kwargs: Any) -> Any:
                step()
                return super().execute(*args, **kwargs)

        return Watched

    def _pass(self) -> None:
        if self._countdown == 0:
            self._taken.append(self._image())
        self._countdown -= 1

    def _image(self) -> Image:
        with self._observer.transaction():
            self._observer.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            return {table: _copied(self._observer, table) for table in _TABLES}


def _copied(connection: psycopg.Connection[Any], table: str) -> bytes:
    with connection.cursor().copy(
        sql.SQL("COPY {} TO STDOUT").format(sql.Identifier(table))
    ) as copy:
        return b"".join(bytes(data) for data in copy)


def _write(url: str, image: Image) -> None:
    with psycopg.connect(url) as connection:
        for table, rows in image.items():
            name = sql.Identifier(table)
            connection.execute(sql.SQL("DELETE FROM {}").format(name))
            with connection.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(name)) as copy:
                copy.write(rows)


def _faults(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        return [
            fault.format(row[0])
            for fault, query in FAULTS.items()
            for row in connection.execute(query.encode()).fetchall()
        ]
