"""Jobs from their rows, inside a transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from yoked_actor.domain.jobs import Dismissal, Job, JobStatus, Progress
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.jobs.values import NoSuchJob

_GET = statement("jobs/get")
_PLAIN = 18
"""The columns that are a job's fields as they are."""
_STATUSES = {status.value: status for status in JobStatus}

_encode = msgspec.json.Encoder().encode


def find_job(tx: Tx, job_id: int) -> Job | None:
    """A job, if it exists."""
    row = tx.execute(_GET, (job_id,)).fetchone()
    return None if row is None else job_of(row)


def existing_job(tx: Tx, job_id: int) -> Job:
    """A job, or `NoSuchJob`."""
    job = find_job(tx, job_id)
    if job is None:
        raise NoSuchJob(job_id)
    return job


def job_of(row: Sequence[Any]) -> Job:
    """A job from its row; without the last columns it has neither progress nor dismissal."""
    values: list[Any] = list(row[:_PLAIN])
    values[5] = _STATUSES[row[5]]
    values[13] = bool(row[13])
    if len(row) > _PLAIN:
        done, total, note, at, by, reason = row[_PLAIN:]
        values.append(None if done is None else Progress(done, total, note or ""))
        values.append(None if at is None else Dismissal(at, by, reason))
    return Job(*values)


def claimed_jobs(
    rows: Sequence[Sequence[Any]], owner: str, now: Instant, until: Instant, priority: int
) -> list[Job]:
    """Jobs that were just claimed, from what the claim returned."""
    running = JobStatus.IN_PROGRESS
    return [
        # By position, which is faster: this is done for every job.
        Job(
            job_id,
            kind,
            payload,
            version,
            due_at,
            running,
            attempts,
            fence,
            owner,
            until,
            error,
            key,
            priority,
            asked == 1,
            made,
            now,
            None,
            most,
        )
        for (
            job_id,
            kind,
            payload,
            version,
            due_at,
            attempts,
            fence,
            error,
            key,
            asked,
            made,
            most,
        ) in rows
    ]


def json_text(values: Sequence[Any]) -> str:
    """Values as a JSON array."""
    return _encode(values).decode()
