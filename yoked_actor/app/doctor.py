"""The doctor: looks at all that a server stands on, and says what to mend.

Every check is a plain function of what is there; none changes anything, and all of them may run
beside a server. What a check finds is `ok`, a `note` that needs no hurry, or a `problem`.
"""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec
import trio
from cryptography import x509

from yoked_actor import compiled
from yoked_actor.actors.clock import read_machine_time
from yoked_actor.app.base import DATABASE
from yoked_actor.domain.time import MICROSECONDS, Instant, to_datetime, tzdata_version
from yoked_actor.edge.auth import NoSigningKey, Tokens
from yoked_actor.edge.net import tls_context
from yoked_actor.settings import EdgeSettings, Settings
from yoked_actor.store import (
    Inspection,
    StoreError,
    engine_version,
    holder_of,
    inspect_database,
    inspect_postgres,
    postgres_version,
)

_LEAST_FREE = 256 * 1024 * 1024
_LARGE_LOG = 256 * 1024 * 1024
_CLOCK_SLACK = 60 * MICROSECONDS
_STUCK = 600 * MICROSECONDS
_CERTIFICATE_DAYS = 14
_PATIENCE_S = 10.0
_DEV_SECRET = "dev-secret"


class Finding(msgspec.Struct, frozen=True):
    """The result of one check."""

    check: str
    result: Literal["ok", "note", "problem"]
    found: str
    fix: str = ""


def examine(settings: Settings, now: Instant, *, full: bool, dev: bool) -> Iterator[Finding]:
    """Check everything but the configuration file, which is already loaded."""
    yield Finding("build", "ok", compiled.FINDER.description())
    yield _signing_key(settings, dev)
    if settings.edge.tls_certificate:
        yield _certificate(settings.edge, now)
    url = settings.store.url.get_secret_value()
    if url:
        yield from _postgres(url, settings.store.connect_timeout_s, now)
    else:
        yield from examine_data(settings.server.data_dir, now, full=full)


def examine_data(directory: Path, now: Instant, *, full: bool) -> Iterator[Finding]:
    """Check the data directory and its files."""
    found = list(_directory(directory))
    yield from found
    if not directory.is_dir() or any(finding.result == "problem" for finding in found):
        return
    yield _disk(directory)
    holder = holder_of(directory)
    process = f" (process {holder})" if holder else ""
    running = "no server runs here" if holder is None else f"a server runs here{process}"
    yield Finding("server", "ok", running)
    yield Finding("time zones", "ok", f"tzdata {tzdata_version()}, {engine_version()}")
    database = directory / DATABASE
    if not database.exists():
        yield Finding("database", "note", f"{database} is not there yet", "a server creates it")
        return
    yield _log_size(database)
    yield from _database(database, now, full=full, is_served=holder is not None)


def _postgres(url: str, timeout_s: float, now: Instant) -> Iterator[Finding]:
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


def _signing_key(settings: Settings, dev: bool) -> Finding:
    kept = settings.server.data_dir if dev else None
    if dev and not settings.auth.secret and not (settings.server.data_dir / _DEV_SECRET).exists():
        return Finding("signing key", "note", "none yet", "`serve --dev` will make one")
    try:
        tokens = Tokens.from_settings(settings.auth, dev_data_dir=kept)
        tokens.check_key()
        if tokens.keys is not None:
            trio.run(tokens.keys.refresh)
            if not tokens.keys:
                raise NoSigningKey(f"no keys could be fetched from {settings.auth.jwks_url}")
    except NoSigningKey as error:
        return Finding(
            "signing key", "problem", str(error), "see docs/operations.md for how to make one"
        )
    missing = settings.auth.unchecked_claims()
    if missing:
        return Finding(
            "signing key",
            "problem",
            f"{settings.auth.algorithm} without {' and '.join(missing)}: a token that was made for"
            " another service is good here, an operator's too",
            f"set {' and '.join(missing)} to what your tokens have",
        )
    return Finding("signing key", "ok", f"{settings.auth.algorithm}")


def _certificate(edge: EdgeSettings, now: Instant) -> Finding:
    try:
        tls_context(edge)
        chain = x509.load_pem_x509_certificates(Path(edge.tls_certificate).read_bytes())
    except (OSError, ssl.SSLError, ValueError) as error:
        return Finding(
            "certificate",
            "problem",
            f"{edge.tls_certificate} and {edge.tls_key} cannot be used: {error}",
            "check that both are PEM files of one key pair, and that the server can read them",
        )
    ends = min(certificate.not_valid_after_utc for certificate in chain)
    days = (ends - to_datetime(now)).days
    text = f"valid until {ends.date()}"
    if days < _CERTIFICATE_DAYS:
        left = "has expired" if days < 0 else f"expires in {days} days"
        return Finding(
            "certificate", "problem", f"{left}: {text}", "renew it, and restart the server"
        )
    return Finding("certificate", "ok", text)


def _directory(directory: Path) -> Iterator[Finding]:
    if not directory.exists():
        yield Finding(
            "data directory",
            "note",
            f"{directory} is not there yet",
            "a server creates it; check --data or server.data_dir",
        )
        return
    if not directory.is_dir():
        yield Finding("data directory", "problem", f"{directory} is no directory", "move it away")
        return
    if not os.access(directory, os.R_OK | os.W_OK | os.X_OK):
        yield Finding(
            "data directory",
            "problem",
            f"{directory} cannot be written to by user {os.geteuid()}",
            f"chown -R it to the user that the server runs as (it is user {os.getuid()} here)",
        )
        return
    owner = directory.stat().st_uid
    strangers = [
        entry.name
        for entry in sorted(directory.iterdir())
        if entry.name.startswith("yoked.") and entry.stat().st_uid != owner
    ]
    if strangers:
        yield Finding(
            "data directory",
            "problem",
            f"{', '.join(strangers)} in {directory} belong to another user than it does",
            f"chown them to user {owner}, or the server cannot write them",
        )
    elif directory.stat().st_mode & 0o077:
        yield Finding(
            "data directory", "note", f"{directory} is open to others", f"chmod 700 {directory}"
        )
    else:
        yield Finding("data directory", "ok", str(directory))


def _disk(directory: Path) -> Finding:
    usage = shutil.disk_usage(directory)
    database = directory / DATABASE
    size = database.stat().st_size if database.exists() else 0
    text = f"{_megabytes(usage.free)} free, the database has {_megabytes(size)}"
    if usage.free < max(_LEAST_FREE, size):
        return Finding(
            "disk", "problem", text, "make room: a log or a backup may need as much as the database"
        )
    return Finding("disk", "ok", text)


def _log_size(database: Path) -> Finding:
    log = Path(f"{database}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > _LARGE_LOG:
        return Finding(
            "log",
            "problem",
            f"{log.name} has {_megabytes(size)}",
            "a long read keeps SQLite from checkpointing it: look for programs that have it open,"
            " and restart the server if there is none",
        )
    return Finding("log", "ok", f"{log.name} has {_megabytes(size)}")


def _database(database: Path, now: Instant, *, full: bool, is_served: bool) -> Iterator[Finding]:
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


def _megabytes(size: int) -> str:
    return f"{size / 1024 / 1024:,.0f} MB"
