"""What the dispatcher asks of a job store. A store passes `tests/store/test_jobs_conformance.py`.

Every write that belongs to an attempt names the job's fence, and is refused with `LeaseLost` when
the lease is over: its time has ended, or somebody else has claimed the job since. A refused write
changes nothing, its effect included.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from yoked_actor.domain.jobs import (
    ErrorKind,
    Job,
    JobAttempt,
    JobStatus,
    NewJob,
    Progress,
    RetryPolicy,
)
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import StoreError

Effect = Callable[[sqlite3.Connection], None]
"""What a job does to the database, in the transaction that completes it.

It may be called more than once; what one call only has written is committed, once.
"""


@runtime_checkable
class JointEffect(Protocol):
    """An effect that many jobs have in common, and that is cheaper done for all of them at once."""

    def __call__(self, connection: sqlite3.Connection, /) -> None:
        """Do it for one job."""

    @staticmethod
    def together(connection: sqlite3.Connection, effects: Sequence[Any], /) -> None:
        """Do it for many, as if one after the other."""


class LeaseLost(StoreError):
    """The attempt is no longer the one that holds the job; nothing was changed."""

    def __init__(self, job_id: int, fence: int) -> None:
        super().__init__(f"the lease on job {job_id} under fence {fence} is over")
        self.job_id = job_id
        self.fence = fence


class CancelAsked(StoreError):
    """Somebody has cancelled the job while it ran, so it does not complete."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"job {job_id} was cancelled while it ran")
        self.job_id = job_id


class KeyConflict(StoreError):
    """A key was used before, for another payload; nothing was enqueued."""

    def __init__(self, job_type: str, key: str, job_id: int | None) -> None:
        by = "another job of the same call" if job_id is None else f"job {job_id}"
        super().__init__(f"{job_type} {key!r} was used for another payload by {by}")
        self.job_type = job_type
        self.key = key
        self.job_id = job_id


class NoSuchJob(StoreError):
    """There is no job with this id; it may have been pruned."""

    def __init__(self, job_id: int) -> None:
        super().__init__(f"there is no job {job_id}")
        self.job_id = job_id


class Enqueued(msgspec.Struct, frozen=True):
    """The job that stands for what was asked for; not a new one when its key was used before."""

    job_id: int
    is_new: bool


class Claimed(msgspec.Struct, frozen=True):
    """What a claim has brought."""

    jobs: list[Job]
    """Leased to the claimant, in the order in which they should run."""
    rescued: list[Job]
    """Jobs whose lease had ended, as they are now: failed, dead letters, or cancelled."""
    next_due_at: Instant | None
    """When the next job is due or the next lease ends, as far as is known; may have passed."""
    lost: tuple[int, ...] = ()
    """Of the jobs that the claimant expected: those that somebody else has claimed first."""


class Completed(msgspec.Struct, frozen=True):
    """An attempt went well."""

    job_id: int
    fence: int
    effect: Effect | None = None


class Failed(msgspec.Struct, frozen=True):
    """An attempt failed, and there will be another."""

    job_id: int
    fence: int
    retry_at: Instant
    error: str
    outline: str = ""
    """The error without its messages, which could name a user: kept in its place if need be."""


class Buried(msgspec.Struct, frozen=True):
    """An attempt failed, and it was the last."""

    job_id: int
    fence: int
    error: str
    kind: ErrorKind = ErrorKind.LOGIC
    outline: str = ""


class Snoozed(msgspec.Struct, frozen=True):
    """An attempt is given back, as if never made; `until` None leaves the time as it is."""

    job_id: int
    fence: int
    until: Instant | None = None


class Cancelled(msgspec.Struct, frozen=True):
    """An attempt was given up, and so is the job."""

    job_id: int
    fence: int
    reason: str


class ReceiverAnswer(msgspec.Struct, frozen=True):
    """What somebody outside has answered to a run of a job."""

    status: int
    """Of HTTP."""
    receiver_id: str | None
    """What the receiver calls it."""
    body: str
    """The beginning of it."""


class KeptAnswer(ReceiverAnswer, frozen=True):
    """An answer, to which run it was, and when it came."""

    fence: int
    at: Instant


Jobs = list[Job]
Outcome = Completed | Failed | Buried | Snoozed | Cancelled


class Extended(msgspec.Struct, frozen=True):
    """What became of leases that should go on."""

    lost: list[int]
    """Ids of jobs whose lease was over."""
    cancel_asked: list[int]
    """Ids of jobs that somebody wants to end."""


class JobStore(Protocol):
    """Jobs that outlive the process."""

    async def enqueue(self, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        """Add all or none; durable on return. `KeyConflict` when a key has another payload."""
        ...

    async def claim(
        self,
        owner: str,
        now: Instant,
        lease_s: float,
        limit: int,
        policies: Mapping[str, RetryPolicy] | None = None,
        expected: Sequence[int] = (),
    ) -> Claimed:
        """Lease up to `limit` due jobs, after rescuing those whose lease has ended.

        Of `expected` jobs, which the claimant has not claimed yet, it says which were lost.

        Of the types named by `policies` alone; of all types, on the default policy, when None.
        """
        ...

    async def settle(self, outcomes: Sequence[Outcome], now: Instant) -> list[Exception | None]:
        """Record how attempts ended, each by itself; durable on return.

        For each the error that kept it from being recorded: `LeaseLost`, `CancelAsked` (it was to
        complete), or what its effect raised.
        """
        ...

    async def complete(
        self, job_id: int, fence: int, now: Instant, effect: Effect | None = None
    ) -> None:
        """Complete one attempt: its effect and its status, or neither."""

    async def fail(
        self, job_id: int, fence: int, now: Instant, retry_at: Instant | None, error: str
    ) -> None:
        """Fail one attempt; without `retry_at` the job is a dead letter."""

    async def snooze(
        self, job_id: int, fence: int, now: Instant, until: Instant | None = None
    ) -> None:
        """Give one attempt back."""

    async def extend(
        self,
        leases: Sequence[tuple[int, int]],
        now: Instant,
        lease_s: float,
        progress: Mapping[int, Progress] | None = None,
    ) -> Extended:
        """Let leases, given as (job, fence), end that much after now.

        With `progress` of some of these jobs, that is written under the same fence.
        """
        ...

    async def cancel(self, job_id: int, now: Instant) -> Job:
        """Cancel a waiting job, ask for the end of a running one. `NoSuchJob`, `ImpossibleJobMove`.

        A running job that was asked to end cannot complete any more.
        """
        ...

    async def hurry(self, job_id: int, now: Instant) -> Job:
        """Let a failed job run again now rather than later. `NoSuchJob`, `ImpossibleJobMove`."""
        ...

    async def requeue(self, job_id: int, now: Instant) -> Job:
        """Let a dead or cancelled job run from the start. `NoSuchJob`, `ImpossibleJobMove`.

        A dismissal is over then.
        """
        ...

    async def dismiss(self, job_id: int, by: str, reason: str, now: Instant) -> Job:
        """Leave a dead letter out of lists, counts and alerts, and record that in the audit.

        `NoSuchJob`, `NotDismissable`, or `ValueError` when the reason is none.
        """
        ...

    async def requeue_dead(self, job_type: str, now: Instant, limit: int) -> list[int]:
        """Let the dead letters of a type run from the start; the ids, at most `limit`.

        Not those that were dismissed.
        """
        ...

    async def rerun(
        self, job_type: str, payload: Mapping[str, str], now: Instant, limit: int, after: int = 0
    ) -> list[int]:
        """Let dead letters of a type run from the start, and failed jobs now rather than later.

        Those whose payload has all these values and whose id is greater than `after`; the ids in
        ascending order, at most `limit`.
        """
        ...

    async def prune(self, ended_before: Instant, limit: int, *, dead: bool = False) -> int:
        """Delete jobs that ended before an instant, at most `limit`; returns how many.

        Those that completed or were cancelled, or with `dead` dead letters.
        """
        ...

    async def prune_keys(self, ended_before: Instant, limit: int) -> int:
        """Forget keys whose job was pruned and had ended before an instant; returns how many."""
        ...

    async def get(self, job_id: int) -> Job | None:
        """One job."""
        ...

    async def attempts(self, job_id: int) -> list[JobAttempt]:
        """A job's attempts that did not go well, oldest first."""
        ...

    async def keep_answer(
        self, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant
    ) -> None:
        """Keep what somebody outside has answered to a run; `LeaseLost` when it is not the last."""

    async def answers(self, job_id: int) -> list[KeptAnswer]:
        """What was answered to the runs of a job, oldest first."""
        ...

    async def counts(self) -> dict[tuple[str, JobStatus], int]:
        """How many jobs there are, by type and status; dismissed ones are left out."""
        ...

    async def open_counts(self) -> dict[tuple[str, JobStatus], int]:
        """The same, without what has completed or was cancelled; quick however much that is."""
        ...

    async def depth(self, now: Instant) -> int:
        """How many jobs are due and wait to be claimed."""
        ...

    async def overdue(self, since: Instant) -> int:
        """How many of them have been due, and there, since an instant or longer."""
        ...

    async def next_due_at(self) -> Instant | None:
        """When the next job is due or the next lease ends."""
        ...

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        job_type: str | None = None,
        limit: int = 100,
        before: int | None = None,
        dismissed: bool | None = False,
    ) -> Jobs:
        """Jobs, the newest first, with an id less than `before`.

        Without dead letters that were dismissed; with True only those, with None all.
        """
        ...
