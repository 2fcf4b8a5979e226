"""What operators do with many jobs at once, and paused types, inside a transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from yoked_actor.domain.jobs import BulkAction, ImpossibleJobMove, JobFilter, Pause
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, record_in, statement
from yoked_actor.store.jobs.operations import cancel_in, dismiss_in, requeue_in
from yoked_actor.store.jobs.rows import json_text
from yoked_actor.store.jobs.values import NoSuchJob

_FIND = statement("jobs/bulk_find")
_STATUSES: Mapping[BulkAction, tuple[str, ...]] = {
    BulkAction.REQUEUE: ("dead_letter", "cancelled"),
    BulkAction.CANCEL: ("pending", "failed", "in_progress"),
    BulkAction.DISMISS: ("dead_letter",),
}
"""The states in which an action is possible."""


def find_in(tx: Tx, action: BulkAction, wanted: JobFilter, limit: int) -> list[int]:
    """The jobs of a filter in whose state an action is possible, oldest first."""
    possible = [status for status in _STATUSES[action] if wanted.status in (None, status)]
    asked = (json_text(possible), wanted.job_type, wanted.text, limit)
    return [job_id for (job_id,) in tx.execute(_FIND, asked).fetchall()]


def change_in(
    tx: Tx,
    action: BulkAction,
    ids: Sequence[int],
    wanted: JobFilter,
    by: str,
    reason: str,
    now: Instant,
) -> list[int]:
    """Apply an action to jobs that were found; returns those that could be changed."""
    changed = []
    for job_id in ids:
        # A job may have ended since it was found.
        with suppress(NoSuchJob, ImpossibleJobMove):
            if action is BulkAction.REQUEUE:
                requeue_in(tx, job_id, now)
            elif action is BulkAction.CANCEL:
                cancel_in(tx, job_id, now)
            else:
                dismiss_in(tx, job_id, by, reason, now)
            changed.append(job_id)
    if changed:
        detail = f"{len(changed)} jobs: {wanted.in_words()}"
        record_in(tx, by, "bulk_jobs", action, detail, now)
    return changed


def pause_in(tx: Tx, pause: Pause) -> bool:
    """Pause a type; False when it is paused already."""
    changed = tx.execute(
        "INSERT INTO job_pauses (type, at, by, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (pause.job_type, pause.at, pause.by, pause.reason),
    ).rowcount
    if changed:
        record_in(tx, pause.by, "pause_jobs", pause.job_type, pause.reason, pause.at)
    return bool(changed)


def resume_in(tx: Tx, job_type: str, by: str, now: Instant) -> bool:
    """Resume a type; False when it is not paused."""
    changed = tx.execute("DELETE FROM job_pauses WHERE type = ?", (job_type,)).rowcount
    if changed:
        record_in(tx, by, "resume_jobs", job_type, "", now)
    return bool(changed)


def pauses_in(tx: Tx) -> list[Pause]:
    """The types that are paused."""
    rows = tx.execute("SELECT type, at, by, reason FROM job_pauses ORDER BY type").fetchall()
    return [Pause(*row) for row in rows]


def paused_types(tx: Tx) -> list[str]:
    """The types that are paused."""
    return [job_type for (job_type,) in tx.execute("SELECT type FROM job_pauses").fetchall()]
