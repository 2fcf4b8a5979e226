"""A job as a value: what is enqueued, what is stored, and the limits of both (R30, R34, R35)."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import msgspec

from yoked_actor.domain.jobs.states import ImpossibleJobMove, JobCause, JobStatus
from yoked_actor.domain.time import Instant

LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100

LONGEST_TEXT = 200
"""The most characters of a job's type and of its key, and of a note on its progress."""

LONGEST_REASON = 500
"""The most characters of the reason for which a dead letter is dismissed."""

MOST_ATTEMPTS = 1000
"""The most runs that a job or a policy may ask for."""


class NewJob(msgspec.Struct, frozen=True):
    """A job to enqueue. There is never more than one job of a type for a key (R35)."""

    type: str
    payload: dict[str, Any]
    scheduled_for: Instant
    key: str | None = None
    priority: int = 0
    """A lower number runs first."""
    payload_version: int = 1
    max_attempts: int | None = None
    """The most runs; None for the number of its type's policy."""

    def __post_init__(self) -> None:
        if not _is_name(self.type):
            raise ValueError(f"a job's type is 1-{LONGEST_TEXT} characters, not {self.type!r}")
        if self.key is not None and not _is_name(self.key):
            raise ValueError(f"a job's key is 1-{LONGEST_TEXT} characters, not {self.key!r}")
        if not LOWEST_PRIORITY <= self.priority <= HIGHEST_PRIORITY:
            raise ValueError(
                f"a job's priority is {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}, not {self.priority}"
            )
        if self.max_attempts is not None and not 1 <= self.max_attempts <= MOST_ATTEMPTS:
            raise ValueError(
                f"a job's max_attempts is 1 to {MOST_ATTEMPTS}, not {self.max_attempts}"
            )


class Progress(msgspec.Struct, frozen=True):
    """The progress of a run, as reported by its handler."""

    done: int
    total: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.done < 0 or (self.total is not None and self.total < self.done):
            raise ValueError(f"progress is 0 to its total, not {self.done} of {self.total}")
        if self.note and not _is_name(self.note):
            raise ValueError(f"a note on progress is {LONGEST_TEXT} characters at most, printable")


class Dismissal(msgspec.Struct, frozen=True):
    """Who dismissed a dead letter, when and why; it raises no more alerts."""

    at: Instant
    by: str
    reason: str


class Job(msgspec.Struct, frozen=True):
    """A job as it is stored."""

    id: int
    type: str
    payload: str
    """JSON."""
    payload_version: int
    scheduled_for: Instant
    status: JobStatus
    attempts: int
    fence: int
    owner: str | None
    lease_until: Instant | None
    last_error: str | None
    key: str | None
    priority: int
    cancel_asked: bool
    created_at: Instant
    started_at: Instant | None
    """When it was last claimed."""
    completed_at: Instant | None
    """When it ended, with any result."""
    max_attempts: int | None = None
    """The most runs; None for the number of its type's policy."""
    progress: Progress | None = None
    """The progress of its last run; None if the run has not reported any."""
    dismissal: Dismissal | None = None
    """Set for a dismissed dead letter."""


class JobAttempt(msgspec.Struct, frozen=True):
    """A failed attempt, kept for the analysis of a dead letter."""

    fence: int
    attempt: int
    owner: str | None
    started_at: Instant | None
    ended_at: Instant
    cause: JobCause
    error: str


class NotDismissable(ImpossibleJobMove):
    """Only a dead letter can be dismissed, and only once; nothing was changed."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.id, job.status, JobCause.DEAD_LETTERED)
        is_dead = job.status is JobStatus.DEAD_LETTER
        what = "dismissed already" if is_dead else f"{job.status} and cannot be dismissed"
        self.args = (f"job {job.id} is {what}",)


def checked_reason(text: str) -> str:
    """A reason without surrounding blanks, or `ValueError`."""
    reason = text.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise ValueError(f"a reason is 1-{LONGEST_REASON} printable characters")
    return reason


def idempotency_key(job: Job) -> str:
    """A key that is the same in every attempt of a job, so that a receiver can drop a repeat.

    It contains the instant of creation, because job ids of two databases can be equal.
    """
    return f"{job.type}:{job.id}:{job.created_at}"


def readable_payload(job: Job) -> Any:
    """The payload of a job, decoded for display; the text itself if it is not JSON."""
    try:
        return msgspec.json.decode(job.payload)
    except msgspec.DecodeError:
        return job.payload


def payload_digest(payload: dict[str, Any]) -> str:
    """A digest of a payload that does not depend on the order of its keys."""
    return blake2b(msgspec.json.encode(payload, order="sorted"), digest_size=16).hexdigest()


def user_part(user_id: str) -> str:
    """How a key names a user. An erasure searches for this text; nothing else may contain it."""
    return f"<{user_id}>"


def _is_name(text: str) -> bool:
    return 1 <= len(text) <= LONGEST_TEXT and text.isprintable()
