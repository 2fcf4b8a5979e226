"""What the queue takes and returns, and how it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from yoked_actor.domain.jobs import ErrorKind, Job
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import StoreError, Tx

Effect = Callable[[Tx], None]
"""What a job does to the database, in the transaction that completes it.

It may be called more than once; what exactly one of the calls wrote is committed.
"""


class JointEffect:
    """An effect that is cheaper when it is applied for many jobs at once. It enqueues no job.

    A class to inherit from and not a protocol: whether an effect is one is asked for every job.
    """

    __slots__ = ()

    def __call__(self, tx: Tx, /) -> None:
        """Apply it for one job."""
        self.together(tx, [self])

    @staticmethod
    def together(tx: Tx, effects: Sequence[Any], /) -> None:
        """Apply it for many jobs, with the same result as one after the other."""
        raise NotImplementedError


class LeaseLost(StoreError):
    """The attempt does not hold the lease of the job any more; nothing was changed."""

    def __init__(self, job_id: int, fence: int) -> None:
        super().__init__(f"the lease on job {job_id} under fence {fence} is over")
        self.job_id = job_id
        self.fence = fence


class CancelAsked(StoreError):
    """The job was cancelled while it ran, so it does not complete."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"job {job_id} was cancelled while it ran")
        self.job_id = job_id


class KeyConflict(StoreError):
    """A key was used before, for another payload; nothing was enqueued."""

    def __init__(self, job_type: str, key: str, job_id: int | None) -> None:
        by = "another job of the same call" if job_id is None else f"job {job_id}"
        super().__init__(f"{job_type} {key} was used for another payload by {by}")
        self.job_type = job_type
        self.key = key
        self.job_id = job_id


class NoSuchJob(StoreError):
    """There is no job with this id; it may have been pruned."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"there is no job {job_id}")
        self.job_id = job_id


class Enqueued(msgspec.Struct, frozen=True):
    """The job for a request; not a new one when its key was used before."""

    job_id: int
    is_new: bool


class Claimed(msgspec.Struct, frozen=True):
    """The result of a claim."""

    jobs: list[Job]
    """Leased to the owner, in the order in which they should run."""
    rescued: list[Job]
    """Jobs whose lease had ended, as they are now: failed, dead letters, or cancelled."""
    next_due_at: Instant | None
    """When the next job is due or the next lease ends, as far as is known; it may have passed."""
    lost: tuple[int, ...] = ()
    """The expected jobs that another owner has claimed first."""


class Completed(msgspec.Struct, frozen=True):
    """An attempt succeeded."""

    job_id: int
    fence: int
    effect: Effect | None = None


class Failed(msgspec.Struct, frozen=True):
    """An attempt failed, and the job will be retried."""

    job_id: int
    fence: int
    retry_at: Instant
    error: str
    outline: str = ""
    """The error without its messages. It is stored instead when a user was erased meanwhile."""


class DeadLettered(msgspec.Struct, frozen=True):
    """An attempt failed, and the job is not retried: it is a dead letter."""

    job_id: int
    fence: int
    error: str
    kind: ErrorKind = ErrorKind.LOGIC
    outline: str = ""


class Snoozed(msgspec.Struct, frozen=True):
    """An attempt is given back and not counted; `until` None leaves the time as it is."""

    job_id: int
    fence: int
    until: Instant | None = None


class Cancelled(msgspec.Struct, frozen=True):
    """An attempt was stopped, and the job is cancelled."""

    job_id: int
    fence: int
    reason: str


Outcome = Completed | Failed | DeadLettered | Snoozed | Cancelled


class Extended(msgspec.Struct, frozen=True):
    """The result of extending leases."""

    lost: list[int]
    """Ids of jobs whose lease had ended."""
    cancel_asked: list[int]
    """Ids of jobs that were asked to stop."""
