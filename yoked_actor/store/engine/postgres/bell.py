"""Wake-ups between the processes that share a database, by LISTEN and NOTIFY.

A wake-up is sent after a change was committed, and names its process, which ignores its own. One
that is lost costs time and nothing else: there is a slow poll behind it.
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

_JOBS = "yoked_jobs"
_NODES = "yoked_nodes"
"""News for nodes: what has changed, and the name of the node that has changed it."""
_POLL_S = 15.0
_RETRY_S = 1.0
_NOTIFY = "SELECT pg_notify(?, ?)"


class Bell:
    """Wakes other processes, and is woken by them."""

    def __init__(self, database: PostgresDatabase, link: Link, runner: Runner, number: int) -> None:
        self._database = database
        self._link = link
        self._runner = runner
        self._own = str(number)
        self._rung = trio.Event()
        self._to_send: set[tuple[str, str]] = set()
        self.name = ""
        """The name of this node; empty if this process is none."""
        self._on_news: dict[str, Callable[[], None]] = {}

    def on_news(self, what: str, wake: Callable[[], None]) -> None:
        """Have `listen` call `wake` when another node has changed `what`, and now and then."""
        self._on_news[what] = wake

    def tell_soon(self, what: str) -> None:
        """Tell the other nodes what has changed, if `listen` runs. Does not block or raise."""
        self._to_send.add((_NODES, f"{what} {self.name}"))
        self._rung.set()

    def ring_soon(self) -> None:
        """Wake the other processes, if `listen` runs. Does not block or raise."""
        self._to_send.add((_JOBS, self._own))
        self._rung.set()

    async def ring(self) -> None:
        """Wake the other processes. Checkpoints; does nothing while the database is unavailable."""
        await self._send(_JOBS, self._own)

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` when another process rings, and now and then, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._send_when_asked)
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
        self._wake_all(wake)  # something may have happened while nobody listened
        poll_s = trio.current_time() + _POLL_S
        try:
            while True:
                # Not after so long a silence: on a busy service there is always somebody who rings.
                with trio.move_on_at(poll_s) as waited:
                    await trio.lowlevel.wait_readable(connection.fileno())
                if waited.cancelled_caught:
                    self._wake_all(wake)
                    poll_s = trio.current_time() + _POLL_S
                elif self._has_rung(connection):
                    wake()
        finally:
            connection.close()

    def _wake_all(self, wake: Callable[[], None]) -> None:
        wake()
        for one in self._on_news.values():
            one()

    def _connect(self) -> Connection:
        connection = self._link.connect("yoked-actor listens")
        connection.execute(f"LISTEN {_JOBS}")
        if self._on_news:
            connection.execute(f"LISTEN {_NODES}")
        return connection

    def _has_rung(self, connection: Connection) -> bool:
        """Pass news of other nodes on, and return whether there is something about jobs."""
        connection.pgconn.consume_input()
        found, news = False, set()
        while (notice := connection.pgconn.notifies()) is not None:
            text = notice.extra.decode()
            if notice.relname.decode() == _JOBS:
                found |= text != self._own
            else:
                what, _, sender = text.partition(" ")
                if sender != self.name:
                    news.add(what)
        for what in news & self._on_news.keys():
            self._on_news[what]()
        return found

    async def _send_when_asked(self) -> None:
        while True:
            await self._rung.wait()
            self._rung = trio.Event()
            to_send, self._to_send = self._to_send, set()
            for channel, text in to_send:
                await self._send(channel, text)

    async def _send(self, channel: str, text: str) -> None:
        try:
            await self._database.read(lambda tx: tx.execute(_NOTIFY, (channel, text)).fetchone())
        except StoreError:
            pass  # they poll
