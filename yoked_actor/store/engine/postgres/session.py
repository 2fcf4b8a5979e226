"""The writing connection of a process, which is made again when it is lost.

When a connection is lost during a commit, the process does not know whether the transaction was
committed. So each transaction counts itself in the process's row of `writers` (`pg_temp.mark`). A
new connection first raises `session` in this row: that waits for a transaction of the older
connection that has counted itself, and refuses one that has not. What it then reads is final.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal

import psycopg
import structlog

from yoked_actor.store.engine.errors import DatabaseInUse, StoreError, StoreUnavailable, explain
from yoked_actor.store.engine.postgres.connections import connect_postgres, shown_url
from yoked_actor.store.engine.postgres.transaction import Connection
from yoked_actor.store.engine.statements import postgres_text, statement

_SERVER_LOCK = 0x796F6B6564_02
"""The advisory lock of a server: "yoked", and a number."""
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.05, 2.0
_INTAKE = statement("lobby/intake")

Lock = Literal["exclusive", "shared"]

_log = structlog.get_logger()


class Link:
    """Makes connections to one database, with pauses between attempts that fail."""

    def __init__(
        self, url: str, *, timeout_s: float, lock_timeout_s: float, lease_s: float | None = None
    ) -> None:
        """A transaction that is idle for a third of `lease_s` is rolled back by the database."""
        self._idle_s = 0.0 if lease_s is None else lease_s / 3
        self._url = url
        self._timeout_s = timeout_s
        self._lock_timeout_s = lock_timeout_s
        self.where = shown_url(url)
        self._pause_s = 0.0
        self._not_before = 0.0
        self.problem: str | None = None
        """Why there is no connection."""

    def connect(self, name: str = "yoked-actor") -> Connection:
        """A connection; raises `StoreUnavailable`, at once if an attempt has just failed."""
        if time.monotonic() < self._not_before:
            raise StoreUnavailable(self.problem or f"{self.where} is unavailable")
        try:
            connection = connect_postgres(self._url, timeout_s=self._timeout_s, name=name)
            connection.execute(
                f"SET lock_timeout = {round(self._lock_timeout_s * 1000):d};"
                f" SET idle_in_transaction_session_timeout = {round(self._idle_s * 1000):d};"
                " SET default_transaction_isolation = 'read committed';"
                # What is told to users is on the disk.
                " SELECT set_config('synchronous_commit', 'on', false)"
                " WHERE current_setting('synchronous_commit') = 'off'"
            )
        except psycopg.Error as error:
            self.failed(error)
            raise explain(error, self.where) from error
        self._pause_s = self._not_before = 0.0
        if self.problem is not None:
            self.problem = None
            _log.warning("database_found", database=self.where)
        return connection

    def failed(self, error: Exception) -> None:
        """Note that a connection was lost or could not be made."""
        self._pause_s = min(_LONGEST_PAUSE_S, max(_FIRST_PAUSE_S, self._pause_s * 2))
        self._not_before = time.monotonic() + self._pause_s
        if self.problem is None:
            self.problem = str(explain(error, self.where))
            _log.critical("database_lost", database=self.where, problem=self.problem)


class Session:
    """The writing connection. Its methods block, and are called by one thread at a time."""

    def __init__(
        self, link: Link, prepare: Callable[[Connection], int], *, lock: Lock | None
    ) -> None:
        """`prepare` migrates or checks the schema, and returns the number of this start.

        The `lock` of a server is exclusive, or shared by several nodes; others have none.
        """
        self.link = link
        self._lock = lock
        self._writer: int | None = None
        self._number = 0
        connection = link.connect()
        try:
            if lock is not None:
                lock_for_server(connection, link.where, wait_s=5.0, how=lock)
            self.boot = prepare(connection)
            self._register(connection)
        except BaseException:
            connection.close()
            raise
        self._connection: Connection | None = connection

    @property
    def number(self) -> int:
        """The number of this process among those that write."""
        assert self._writer is not None
        return self._writer

    @property
    def connection(self) -> Connection:
        """The connection, made again if it was lost; `StoreUnavailable` if that fails."""
        if self._connection is None:
            self._connection = self._connect_again()
        return self._connection

    def committed(self) -> None:
        """Note that a transaction that has counted itself was committed."""
        self._number += 1

    def is_lost(self) -> bool:
        """Whether the connection is lost. It is closed then."""
        connection = self._connection
        if connection is None:
            return True
        if not connection.closed:
            return False
        with suppress(psycopg.Error):
            connection.close()
        self._connection = None
        return True

    def was_committed(self) -> bool:
        """Whether the transaction in which the connection was lost was committed.

        Connects again; raises `StoreUnavailable` if that fails, and nothing is known then.
        """
        before = self._number
        _ = self.connection
        return self._number > before

    def close(self) -> None:
        """Forget the row of this process, and close the connection."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.execute("DELETE FROM writers WHERE id = $1", (self._writer,))
            with suppress(psycopg.Error):
                self._connection.close()
            self._connection = None

    def _connect_again(self) -> Connection:
        connection = self.link.connect()
        try:
            if self._lock is not None:
                self._lock_again(connection)
            if self._lock == "exclusive":
                self._check_boot(connection)
            self._register(connection)
        except psycopg.Error as error:
            connection.close()
            self.link.failed(error)
            raise explain(error, self.link.where) from error
        except BaseException:
            connection.close()
            raise
        return connection

    def _lock_again(self, connection: Connection) -> None:
        try:
            lock_for_server(connection, self.link.where, wait_s=0.0, how=self._lock or "exclusive")
        except DatabaseInUse as error:
            # Perhaps by the lost connection of this process; otherwise the boot tells.
            self.link.failed(error)
            raise StoreUnavailable(str(error)) from error

    def _check_boot(self, connection: Connection) -> None:
        (boot,) = _one(connection, "SELECT value FROM meta WHERE name = 'boot'")
        if boot != self.boot:
            raise StoreError(
                f"another server was started on {self.link.where} while it could not be reached;"
                " this server has to be started again"
            )

    def _register(self, connection: Connection) -> None:
        if self._writer is None:
            connection.execute("DELETE FROM writers WHERE opened_at < now() - interval '1 year'")
            (self._writer,) = _one(connection, "INSERT INTO writers DEFAULT VALUES RETURNING id")
        row = connection.execute(
            "UPDATE writers SET session = session + 1, opened_at = now() WHERE id = $1"
            " RETURNING session, number",
            (self._writer,),
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.link.where} has lost the row of this process in writers")
        session, number = row
        text = postgres_text(_INTAKE)
        connection.execute(
            text.replace("{writer}", str(self._writer)).replace("{session}", str(session))
        )
        self._number = number


def lock_for_server(
    connection: Connection, where: str, *, wait_s: float, how: Lock = "exclusive"
) -> None:
    """Take the lock of a server, until the connection is closed, or raise `DatabaseInUse`.

    The connection of a process that was killed may hold it a moment longer.
    """
    until = time.monotonic() + wait_s
    shared = "_shared" if how == "shared" else ""
    while True:
        (taken,) = _one(connection, f"SELECT pg_try_advisory_lock{shared}({_SERVER_LOCK})")
        if taken:
            return
        if time.monotonic() >= until:
            break
        time.sleep(0.1)
    holder = connection.execute(
        "SELECT coalesce(host(client_addr), 'this machine'), backend_start::text"
        " FROM pg_locks JOIN pg_stat_activity USING (pid)"
        " WHERE locktype = 'advisory' AND objid = $1 AND classid = $2",
        (_SERVER_LOCK & 0xFFFFFFFF, _SERVER_LOCK >> 32),
    ).fetchone()
    who = "another server" if holder is None else f"another server ({holder[0]}, since {holder[1]})"
    raise DatabaseInUse(
        f"{where} is in use by {who}; stop it, use another database, or set node.id and node.url"
        " on all servers"
    )


def _one(connection: Connection, text: str) -> tuple[Any, ...]:
    row = connection.execute(text).fetchone()
    assert row is not None
    return row
