"""The queue's plain functions on a connection, for use inside a transaction that is under way."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from yoked_actor.domain.jobs import (
    DEFAULT_POLICY,
    Dismissal,
    ErrorKind,
    Job,
    JobStatus,
    NewJob,
    Progress,
    Retry,
    RetryPolicy,
    after_failure,
    payload_digest,
)
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import statement
from yoked_actor.store.jobs.outcomes import Reading, leave
from yoked_actor.store.jobs.port import Buried, Enqueued, Failed, KeyConflict, NoSuchJob, Outcome

_NEXT_ID = statement("jobs/next_id")
_ENQUEUE = statement("jobs/enqueue")
_KEYS = statement("jobs/keys")
_ADD_KEYS = statement("jobs/add_keys")
_PRIORITIES = statement("jobs/priorities")
_CLAIM = statement("jobs/claim")
_EXPIRED = statement("jobs/expired")
_GET = statement("jobs/get")
_PLAIN = 18
"""The columns that are a job's fields as they are."""
_STATUSES = {status.value: status for status in JobStatus}

_encode = msgspec.json.Encoder().encode


def enqueue_in(
    connection: sqlite3.Connection, jobs: Sequence[NewJob], now: Instant
) -> list[Enqueued]:
    """Add jobs in a transaction that is under way, all or none of them.

    On `KeyConflict` nothing of this call is written; the transaction's other writes are the
    caller's to keep or to roll back.
    """
    asked = [(job.type, job.key) for job in jobs if job.key is not None]
    used: dict[tuple[str, str], tuple[int, str, bool]] = {}
    if asked:
        for job_type, key, job_id, digest in connection.execute(
            _KEYS, (json_text(asked),)
        ).fetchall():
            used[job_type, key] = (job_id, digest, True)
    (last,) = connection.execute(_NEXT_ID).fetchone()
    rows: list[tuple[Any, ...]] = []
    keys: list[tuple[Any, ...]] = []
    enqueued: list[Enqueued] = []
    for job in jobs:
        if job.key is not None:
            digest = payload_digest(job.payload)
            before = used.get((job.type, job.key))
            if before is not None:
                if before[1] != digest:
                    raise KeyConflict(job.type, job.key, before[0] if before[2] else None)
                enqueued.append(Enqueued(before[0], False))
                continue
            used[job.type, job.key] = (last + 1, digest, False)
            keys.append((job.type, job.key, last + 1, digest))
        last += 1
        payload = _encode(job.payload).decode()
        row = (last, job.type, payload, job.payload_version, job.scheduled_for, job.key)
        rows.append((*row, job.priority, job.max_attempts))
        enqueued.append(Enqueued(last, True))
    connection.execute(_ENQUEUE, (json_text(rows), now))
    if keys:
        connection.execute(_ADD_KEYS, (json_text(keys),))
    return enqueued


def rescue(
    db: sqlite3.Connection,
    at: Reading,
    limit: int,
    types: str | None,
    policies: Mapping[str, RetryPolicy],
) -> list[Job]:
    """End attempts whose lease is over, as their policies say."""
    rescued = []
    for job in [job_of(row) for row in db.execute(_EXPIRED, (at.lease, types, limit)).fetchall()]:
        policy = policies.get(job.type, DEFAULT_POLICY)
        decision = after_failure(policy, job, ErrorKind.LOST_LEASE, at.now)
        error = f"the lease of {job.owner} ended before the job did"
        if isinstance(decision, Retry):
            outcome: Outcome = Failed(job.id, job.fence, decision.at, error)
        else:
            outcome = Buried(job.id, job.fence, f"{error}; {decision.reason}", ErrorKind.LOST_LEASE)
        leave(db, outcome, at, is_rescue=True)
        rescued.append(existing_job(db, job.id))
    return rescued


def claim(
    db: sqlite3.Connection,
    owner: str,
    now: Instant,
    until: Instant,
    limit: int,
    types: str | None,
) -> list[Job]:
    """Lease due jobs, priority by priority."""
    jobs: list[Job] = []
    for (priority,) in db.execute(_PRIORITIES).fetchall():
        if len(jobs) == limit:
            break
        room = limit - len(jobs)
        rows = db.execute(_CLAIM, (owner, now, until, priority, room, types)).fetchall()
        # SQLite returns rows in the order in which it changed them, which is any.
        jobs += sorted(map(job_of, rows), key=lambda job: (job.scheduled_for, job.id))
    return jobs


def find_job(db: sqlite3.Connection, job_id: int) -> Job | None:
    """A job, if it is there."""
    row = db.execute(_GET, (job_id,)).fetchone()
    return None if row is None else job_of(row)


def existing_job(db: sqlite3.Connection, job_id: int) -> Job:
    """A job, or `NoSuchJob`."""
    job = find_job(db, job_id)
    if job is None:
        raise NoSuchJob(job_id)
    return job


def job_of(row: Sequence[Any]) -> Job:
    """A job from its row; one that was just claimed has no progress and no dismissal."""
    values: list[Any] = list(row[:_PLAIN])
    values[5] = _STATUSES[row[5]]
    values[13] = bool(row[13])
    if len(row) > _PLAIN:
        done, total, note, at, by, reason = row[_PLAIN:]
        values.append(None if done is None else Progress(done, total, note or ""))
        values.append(None if at is None else Dismissal(at, by, reason))
    return Job(*values)


def json_text(values: Sequence[Any]) -> str:
    """Values as a JSON array."""
    return _encode(values).decode()
