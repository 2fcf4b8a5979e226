"""Wake-ups between the processes that share a database, by LISTEN and NOTIFY.

A wake-up is sent after a change was committed, and carries the number of its process, which ignores
its own. One that is lost costs time and nothing else: there is a slow poll behind it.
"""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import trio

from yoked_actor.store.engine.errors import StoreError, StoreUnavailable
from yoked_actor.store.engine.postgres.database import PostgresDatabase
from yoked_actor.store.engine.postgres.session import Link
from yoked_actor.store.engine.postgres.transaction import Connection
from yoked_actor.store.engine.runners import Runner

_CHANNEL = "yoked_jobs"
_POLL_S = 15.0
_RETRY_S = 1.0


class Bell:
    """Wakes other processes, and is woken by them."""

    def __init__(self, database: PostgresDatabase, link: Link, runner: Runner, number: int) -> None:
        self._database = database
        self._link = link
        self._runner = runner
        self._own = str(number)
        self._rung = trio.Event()

    def ring_soon(self) -> None:
        """Wake the other processes, if `listen` runs. Does not block or raise."""
        self._rung.set()

    async def ring(self) -> None:
        """Wake the other processes. Checkpoints; does nothing while the database is unavailable."""
        try:
            await self._database.read(
                lambda tx: tx.execute("SELECT pg_notify(?, ?)", (_CHANNEL, self._own)).fetchone()
            )
        except StoreError:
            pass  # they poll

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` when another process rings, and now and then, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._ring_when_asked)
            while True:
                try:
                    await self._hear(wake)
                except StoreUnavailable:
                    await trio.sleep(_RETRY_S)
                except psycopg.OperationalError as error:
                    self._link.failed(error)
                    await trio.sleep(_RETRY_S)

    async def _hear(self, wake: Callable[[], None]) -> None:
        connection = await self._runner.run(self._connect)
        wake()  # something may have happened while nobody listened
        try:
            while True:
                with trio.move_on_after(_POLL_S) as waited:
                    await trio.lowlevel.wait_readable(connection.fileno())
                if waited.cancelled_caught or self._is_for_us(connection):
                    wake()
        finally:
            connection.close()

    def _connect(self) -> Connection:
        connection = self._link.connect("yoked-actor listens")
        connection.execute(f"LISTEN {_CHANNEL}")
        return connection

    def _is_for_us(self, connection: Connection) -> bool:
        connection.pgconn.consume_input()
        found = False
        while (notice := connection.pgconn.notifies()) is not None:
            found |= notice.extra.decode() != self._own
        return found

    async def _ring_when_asked(self) -> None:
        while True:
            await self._rung.wait()
            self._rung = trio.Event()
            await self.ring()
