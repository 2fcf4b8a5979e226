"""Reading a database to find out whether it is well, while a server may run on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from yoked_actor.domain.time import Instant, ReadMachineTime
from yoked_actor.store.engine import StoreError, Tx, connect, newest_schema, schema_of, snapshot
from yoked_actor.store.jobs import read_lease_clock
from yoked_actor.store.upkeep.invariants import INVARIANTS

_NEWEST = (
    "SELECT coalesce(max(newest.at), 0) FROM (SELECT max(at) AS at FROM audit"
    " UNION ALL SELECT max(at) FROM reports"
    " UNION ALL SELECT (SELECT paired_at FROM matches ORDER BY number DESC LIMIT 1)"
    " UNION ALL SELECT (SELECT created_at FROM jobs ORDER BY id DESC LIMIT 1)) AS newest"
)


class BrokenInvariant(msgspec.Struct, frozen=True):
    """A rule between rows that does not hold."""

    broken: str
    rows: list[str]
    """The first rows that break it."""
    fix: str


class JobTrouble(msgspec.Struct, frozen=True):
    """How many jobs need attention."""

    dead_letters: int
    ended_leases: int
    late: int


class Inspection:
    """One snapshot of a database."""

    invariants = len(INVARIANTS)

    def __init__(self, tx: Tx, schema: int, newest: int) -> None:
        self._connection = tx
        self._schema = schema
        self.newest = newest
        """The version of the schema that this program needs."""

    def schema(self) -> int:
        """The version of the schema."""
        return self._schema

    def damage(self, *, full: bool) -> list[str]:
        """What SQLite's own check finds; `full` compares indexes with their tables too."""
        check = "integrity_check" if full else "quick_check"
        found = [text for (text,) in self._connection.execute(f"PRAGMA {check}(5)")]
        return [] if found == ["ok"] else found

    def newest_at(self) -> Instant:
        """The latest instant at which a row was written, as far as rows tell."""
        (newest,) = self._connection.execute(_NEWEST).fetchone()
        return int(newest)

    def broken_invariants(self) -> list[BrokenInvariant]:
        """The rules between rows that do not hold."""
        found = []
        for invariant in INVARIANTS:
            rows = self._connection.execute(
                f"SELECT * FROM ({invariant.query}) AS found LIMIT 5"
            ).fetchall()
            if rows:
                names = [str(row[0]) for row in rows]
                found.append(BrokenInvariant(invariant.broken, names, invariant.fix))
        return found

    def job_trouble(self, now: Instant, overdue: int, machine: ReadMachineTime) -> JobTrouble:
        """Dead letters, and jobs that are overdue by more than so many microseconds."""
        leases = read_lease_clock(self._connection, machine)
        lease_now = now if leases is None else leases.at(now)
        return JobTrouble(
            *self._connection.execute(
                "SELECT (SELECT count(*) FROM jobs WHERE status = 'dead_letter'),"
                " (SELECT count(*) FROM jobs WHERE status = 'in_progress' AND lease_until < ?1),"
                " (SELECT count(*) FROM jobs"
                " WHERE status IN ('pending', 'failed') AND scheduled_for < ?2)",
                (lease_now - overdue, now - overdue),
            ).fetchone()
        )


@contextmanager
def inspect_database(path: Path, *, busy_timeout_s: float) -> Iterator[Inspection]:
    """Read one snapshot of a database; nothing is changed. `StoreError` if it cannot be read."""
    try:
        with closing(connect(path, busy_timeout_s=busy_timeout_s)) as connection:
            connection.execute("PRAGMA query_only = ON")
            connection.execute("BEGIN")
            yield Inspection(connection, schema_of(connection), newest_schema())
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}") from error


@contextmanager
def inspect_postgres(url: str, *, timeout_s: float) -> Iterator[Inspection]:
    """Read one snapshot of a database on PostgreSQL; `StoreError` if it cannot be read."""
    from yoked_actor.store.engine import postgres

    where = postgres.shown_url(url)
    with postgres.explained(where), postgres.connect_postgres(url, timeout_s=timeout_s) as found:
        tx = postgres.PostgresTx(found)
        with snapshot(tx):
            newest, _ = postgres.postgres_migrations()[-1]
            yield Inspection(tx, postgres.postgres_schema_of(found), newest)


def postgres_version(url: str, *, timeout_s: float) -> str:
    """The name and version of the engine, and where it is; `StoreError` if it cannot be reached."""
    from yoked_actor.store.engine import postgres

    where = postgres.shown_url(url)
    with postgres.explained(where), postgres.connect_postgres(url, timeout_s=timeout_s) as found:
        return f"PostgreSQL {found.info.server_version // 10000}, {where}"
