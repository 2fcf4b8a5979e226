"""What operators do with jobs, inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from yoked_actor.domain.jobs import Job, JobCause, JobStatus, NotDismissable, next_status
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, record_in, statement
from yoked_actor.store.jobs.erased import DISMISSED
from yoked_actor.store.jobs.rows import existing_job

_REQUEUE = statement("jobs/requeue")
_RERUN_FIND = statement("jobs/rerun_find")
_DISMISS = statement("jobs/dismiss")


def cancel_in(tx: Tx, job_id: int, now: Instant) -> Job:
    """Cancel a waiting job, or ask a running one to stop."""
    job = existing_job(tx, job_id)
    next_status(job_id, job.status, JobCause.CANCELLED)
    if job.status is JobStatus.IN_PROGRESS:
        tx.execute("UPDATE jobs SET cancel_asked = 1 WHERE id = ?", (job_id,))
    else:
        tx.execute(
            "UPDATE jobs SET status = 'cancelled', completed_at = ? WHERE id = ?", (now, job_id)
        )
    return existing_job(tx, job_id)


def retry_in(tx: Tx, job_id: int, now: Instant) -> Job:
    """Make a failed job due now."""
    next_status(job_id, existing_job(tx, job_id).status, JobCause.RETRIED)
    tx.execute(
        "UPDATE jobs SET scheduled_for = ?1 WHERE id = ?2 AND scheduled_for > ?1", (now, job_id)
    )
    return existing_job(tx, job_id)


def requeue_in(tx: Tx, job_id: int, now: Instant) -> Job:
    """Let a dead letter or a cancelled job run from the start."""
    next_status(job_id, existing_job(tx, job_id).status, JobCause.REQUEUED)
    tx.execute(_REQUEUE, (job_id, now))
    return existing_job(tx, job_id)


def requeue_dead_in(tx: Tx, job_type: str, now: Instant, limit: int) -> list[int]:
    """Let the dead letters of a type run from the start."""
    found = tx.execute(
        "SELECT id FROM jobs WHERE status = 'dead_letter' AND dismissed_at IS NULL"
        " AND type = ? ORDER BY id LIMIT ?",
        (job_type, limit),
    ).fetchall()
    tx.executemany(_REQUEUE, [(job_id, now) for (job_id,) in found])
    return [job_id for (job_id,) in found]


def rerun_in(
    tx: Tx, job_type: str, payload: Mapping[str, str], now: Instant, limit: int, after: int
) -> list[int]:
    """Let dead letters with such a payload run from the start, and failed jobs now."""
    asked: dict[str, str | int] = {"type": job_type, "now": now, "limit": limit, "after": after}
    asked["values"] = msgspec.json.encode(payload).decode()
    found = tx.execute(_RERUN_FIND, asked).fetchall()
    for job_id, status in found:
        if status == JobStatus.DEAD_LETTER:
            tx.execute(_REQUEUE, (job_id, now))
        else:
            tx.execute("UPDATE jobs SET scheduled_for = ? WHERE id = ?", (now, job_id))
    return [job_id for job_id, _ in found]


def dismiss_in(tx: Tx, job_id: int, by: str, reason: str, now: Instant) -> Job:
    """Leave a dead letter out of lists, counts and alerts, and record that in the audit."""
    job = existing_job(tx, job_id)
    if not tx.execute(_DISMISS, (job_id, now, by, reason)).rowcount:
        raise NotDismissable(job)
    record_in(tx, by, DISMISSED, str(job_id), reason, now)
    return existing_job(tx, job_id)
