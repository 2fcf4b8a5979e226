"""The checks of the database: the same for both engines, but for the damage of a file."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from yoked_actor.actors.clock import read_machine_time
from yoked_actor.app.doctor.finding import Finding
from yoked_actor.domain.time import MICROSECONDS, Instant, to_datetime, tzdata_version
from yoked_actor.store import (
    Inspection,
    StoreError,
    inspect_database,
    inspect_postgres,
    postgres_version,
)

_CLOCK_SLACK = 60 * MICROSECONDS
_STUCK = 600 * MICROSECONDS
_PATIENCE_S = 10.0


def check_database(
    database: Path, now: Instant, *, full: bool, is_served: bool
) -> Iterator[Finding]:
    """Check the database in a SQLite file."""
    try:
        with inspect_database(database, busy_timeout_s=_PATIENCE_S) as inspection:
            schema = _schema(inspection)
            yield schema
            yield _integrity(inspection, full)
            if schema.result == "problem":
                return
            yield _clock(inspection, now)
            yield from _invariants(inspection)
            yield from _jobs(inspection, now, is_served)
    except StoreError as error:
        yield Finding(
            "database", "problem", str(error), "restore a backup: yoked-actor restore FILE"
        )


def check_postgres(url: str, timeout_s: float, now: Instant) -> Iterator[Finding]:
    """Check the database on PostgreSQL."""
    try:
        version = postgres_version(url, timeout_s=timeout_s)
        yield Finding("time zones", "ok", f"tzdata {tzdata_version()}")
        yield Finding("database", "ok", version)
        with inspect_postgres(url, timeout_s=timeout_s) as inspection:
            if inspection.schema() == 0:
                yield Finding("schema", "note", "it has no tables yet", "a server creates them")
                return
            schema = _schema(inspection)
            yield schema
            if schema.result == "problem":
                return
            yield _clock(inspection, now)
            yield from _invariants(inspection)
            yield from _jobs(inspection, now, is_served=True)
    except StoreError as error:
        yield Finding(
            "database",
            "problem",
            str(error),
            "check store.url, and that PostgreSQL runs and lets this user connect",
        )


def _schema(inspection: Inspection) -> Finding:
    found, newest = inspection.schema(), inspection.newest
    if found > newest:
        return Finding(
            "schema",
            "problem",
            f"it was written by a newer version (schema {found}, this program knows {newest})",
            "upgrade yoked-actor, or restore a backup of this version",
        )
    if found < newest:
        return Finding(
            "schema",
            "problem",
            f"it has an older schema ({found}; this program has {newest})",
            "take a backup, then run `yoked-actor migrate`; a server does it at its start too",
        )
    return Finding("schema", "ok", f"version {found}")


def _integrity(inspection: Inspection, full: bool) -> Finding:
    name = "integrity_check" if full else "quick_check"
    damage = inspection.damage(full=full)
    if not damage:
        return Finding("integrity", "ok", name if full else f"{name}; --full checks more")
    return Finding(
        "integrity",
        "problem",
        "; ".join(damage),
        "stop the server and restore a backup: yoked-actor restore FILE",
    )


def _clock(inspection: Inspection, now: Instant) -> Finding:
    here = to_datetime(now)
    if not datetime(2025, 1, 1, tzinfo=UTC) < here < datetime(2100, 1, 1, tzinfo=UTC):
        return Finding("clock", "problem", f"it says {here:%Y-%m-%d}", "set the system's clock")
    newest = inspection.newest_at()
    if newest > now + _CLOCK_SLACK:
        return Finding(
            "clock",
            "problem",
            f"it says {here:%Y-%m-%d %H:%M:%S}, but the database was written to at"
            f" {to_datetime(newest):%Y-%m-%d %H:%M:%S} UTC",
            "set the clock; was it wrong before, or a mock one? Then take another database",
        )
    return Finding("clock", "ok", f"{here:%Y-%m-%d %H:%M:%S} UTC")


def _invariants(inspection: Inspection) -> Iterator[Finding]:
    broken = inspection.broken_invariants()
    for one in broken:
        yield Finding("rows", "problem", f"{one.broken}: {', '.join(one.rows)}", one.fix)
    if not broken:
        yield Finding("rows", "ok", f"{inspection.invariants} rules between rows hold")


def _jobs(inspection: Inspection, now: Instant, is_served: bool) -> Iterator[Finding]:
    found = inspection.job_trouble(now, _STUCK, read_machine_time)
    dead, stuck, late = found.dead_letters, found.ended_leases, found.late
    if dead:
        yield Finding(
            "jobs",
            "problem",
            f"{dead} dead letters",
            "`yoked-actor jobs list --status dead_letter` shows them, `jobs show` says why, `jobs"
            " requeue` lets them run again",
        )
    if stuck or late:
        text = f"{stuck} leases ended long ago, {late} jobs are long due"
        fix = "read the server's log: it should have recovered them"
        if is_served:
            yield Finding("jobs", "problem", text, fix)
        else:
            yield Finding("jobs", "note", text, "a server recovers them when it starts")
    if not (dead or stuck or late):
        yield Finding("jobs", "ok", "no dead letters, no leases that are stuck")
