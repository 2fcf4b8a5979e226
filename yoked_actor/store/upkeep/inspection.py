"""Reading a database to find out whether it is well, while a server may run on it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from yoked_actor.domain.time import Instant, ReadMachineTime
from yoked_actor.store.engine import StoreError, connect, schema_of
from yoked_actor.store.jobs import read_lease_clock
from yoked_actor.store.upkeep.invariants import INVARIANTS

_NEWEST = (
    "SELECT max(coalesce((SELECT max(at) FROM audit), 0),"
    " coalesce((SELECT max(at) FROM reports), 0),"
    " coalesce((SELECT paired_at FROM matches ORDER BY number DESC LIMIT 1), 0),"
    " coalesce((SELECT created_at FROM jobs ORDER BY id DESC LIMIT 1), 0))"
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

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def schema(self) -> int:
        """The version of the schema."""
        return schema_of(self._connection)

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
            rows = self._connection.execute(f"SELECT * FROM ({invariant.query}) LIMIT 5").fetchall()
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
            yield Inspection(connection)
    except sqlite3.Error as error:
        raise StoreError(f"{path} cannot be read: {error}") from error
