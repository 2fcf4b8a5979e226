"""Jobs: their states, every way from one to the next, and what a failure leads to (R30-R34).

The table below is the whole truth about states: a (status, cause) that is not in it is refused and
changes nothing. The diagram in the documentation is drawn from it. A job is due when it is pending
or failed and its time has come; whoever claims it gets a lease and a fence, a number that only ever
grows, and every later write of that attempt has to name it.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b
from typing import Any

import msgspec

from yoked_actor.domain.time import Instant, after


class JobStatus(StrEnum):
    """Where a job stands."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    CANCELLED = "cancelled"


class JobCause(StrEnum):
    """Why a job moves."""

    CLAIMED = "claimed"
    COMPLETED = "completed"
    FAILED = "failed"
    BURIED = "buried"
    SNOOZED = "snoozed"
    CANCELLED = "cancelled"
    LEASE_ENDED = "lease_ended"
    HURRIED = "hurried"
    REQUEUED = "requeued"


JOB_TRANSITIONS: dict[tuple[JobStatus, JobCause], JobStatus] = {
    (JobStatus.PENDING, JobCause.CLAIMED): JobStatus.IN_PROGRESS,
    (JobStatus.PENDING, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.FAILED, JobCause.CLAIMED): JobStatus.IN_PROGRESS,
    (JobStatus.FAILED, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.FAILED, JobCause.HURRIED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.COMPLETED): JobStatus.COMPLETED,
    (JobStatus.IN_PROGRESS, JobCause.FAILED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.LEASE_ENDED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.BURIED): JobStatus.DEAD_LETTER,
    (JobStatus.IN_PROGRESS, JobCause.SNOOZED): JobStatus.PENDING,
    (JobStatus.IN_PROGRESS, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.DEAD_LETTER, JobCause.REQUEUED): JobStatus.PENDING,
    (JobStatus.CANCELLED, JobCause.REQUEUED): JobStatus.PENDING,
}

WAITING = frozenset({JobStatus.PENDING, JobStatus.FAILED})
LIVE = WAITING | {JobStatus.IN_PROGRESS}
ENDED = frozenset(JobStatus) - LIVE
LOWEST_PRIORITY, HIGHEST_PRIORITY = -100, 100
LONGEST_TEXT = 200
"""The most characters of a job's type and of its key, and of a note on its progress."""
LONGEST_REASON = 500
"""The most characters of the reason for which a dead letter is dismissed."""
MOST_ATTEMPTS = 1000
"""The most runs that a job or a policy may ask for."""


class ImpossibleJobMove(Exception):
    """A cause that has no meaning for a job in this state; nothing was changed."""

    def __init__(self, job_id: int, status: JobStatus, cause: JobCause) -> None:
        super().__init__(f"job {job_id} is {status} and cannot be {cause}")
        self.job_id = job_id
        self.status = status
        self.cause = cause


class NotDismissable(ImpossibleJobMove):
    """Only a dead letter can be dismissed, and only once; nothing was changed."""

    def __init__(self, job: Job) -> None:
        super().__init__(job.id, job.status, JobCause.BURIED)
        is_dead = job.status is JobStatus.DEAD_LETTER
        what = "dismissed already" if is_dead else f"{job.status} and cannot be dismissed"
        self.args = (f"job {job.id} is {what}",)


def next_status(job_id: int, status: JobStatus, cause: JobCause) -> JobStatus:
    """The status that a cause leads to, or `ImpossibleJobMove`."""
    try:
        return JOB_TRANSITIONS[status, cause]
    except KeyError:
        raise ImpossibleJobMove(job_id, status, cause) from None


class NewJob(msgspec.Struct, frozen=True):
    """A job to be. With a key there is at most one job of its type for it, ever (R35)."""

    type: str
    payload: dict[str, Any]
    scheduled_for: Instant
    key: str | None = None
    priority: int = 0
    """The lower one goes first."""
    payload_version: int = 1
    max_attempts: int | None = None
    """How often it is run at most; None leaves that to the policy of its type."""

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
    """How far a run has come, as its handler says."""

    done: int
    total: int | None = None
    note: str = ""

    def __post_init__(self) -> None:
        if self.done < 0 or (self.total is not None and self.total < self.done):
            raise ValueError(f"progress is 0 to its total, not {self.done} of {self.total}")
        if self.note and not _is_name(self.note):
            raise ValueError(f"a note on progress is {LONGEST_TEXT} characters at most, printable")


class Dismissal(msgspec.Struct, frozen=True):
    """Somebody has looked at a dead letter and wants to hear no more of it."""

    at: Instant
    by: str
    reason: str


def checked_reason(text: str) -> str:
    """A reason without the blanks around it, or `ValueError`."""
    reason = text.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise ValueError(f"a reason is 1-{LONGEST_REASON} printable characters")
    return reason


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
    """When it ended, however it did."""
    max_attempts: int | None = None
    """How often it is run at most, when its own is not the policy's."""
    progress: Progress | None = None
    """How far its last run has come; None when the run has not said."""
    dismissal: Dismissal | None = None
    """Of a dead letter that somebody has dismissed."""


class JobAttempt(msgspec.Struct, frozen=True):
    """An attempt that did not end well, for those who look into a dead letter."""

    fence: int
    attempt: int
    owner: str | None
    started_at: Instant | None
    ended_at: Instant
    cause: JobCause
    error: str


class Transient(Exception):
    """Raised by a handler: it may go better another time, so the job's policy decides."""


class Permanent(Exception):
    """Raised by a handler: it will never go well, so the job is a dead letter at once."""


class Snooze(msgspec.Struct, frozen=True):
    """Returned by a handler: not now, but after so many seconds; the attempt does not count."""

    seconds: float


class Cancel(msgspec.Struct, frozen=True):
    """Returned by a handler: the job has lost its point."""

    reason: str


class ErrorKind(StrEnum):
    """What went wrong, as far as a policy cares."""

    TRANSIENT = "transient"
    LOST_LEASE = "lost_lease"
    LOGIC = "logic"


DEFAULT_RUNS = 5


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often a job is run, and how long it rests between two runs.

    With `delays_s` those are the pauses, the last one repeated if need be. Without, the pause after
    run n is `min(cap_s, base_s * 2 ** (n - 1))`. Unless `runs` says it, there is one run more than
    pauses, or five. `jitter` lengthens a pause by up to that share of it, always the same for the
    same job and run.
    """

    delays_s: tuple[float, ...] = ()
    base_s: float = 60.0
    cap_s: float = 3600.0
    runs: int | None = None
    jitter: float = 0.0

    @property
    def max_runs(self) -> int:
        """How often a job is run at most."""
        if self.runs is not None:
            return self.runs
        return len(self.delays_s) + 1 if self.delays_s else DEFAULT_RUNS

    def delay_s(self, job_id: int, attempt: int) -> float:
        """The pause after the given run, counted from 1."""
        if self.delays_s:
            pause_s = self.delays_s[min(attempt, len(self.delays_s)) - 1]
        else:
            # Past the cap at any rate, and a float cannot hold every power of two.
            pause_s = min(self.cap_s, self.base_s * 2.0 ** min(attempt - 1, 64))
        return pause_s * (1.0 + self.jitter * _share(job_id, attempt))


DEFAULT_POLICY = RetryPolicy(jitter=0.1)


class Retry(msgspec.Struct, frozen=True):
    """Run it again, at an instant."""

    at: Instant


class Bury(msgspec.Struct, frozen=True):
    """It is a dead letter."""

    reason: str


def max_runs(policy: RetryPolicy, job: Job) -> int:
    """How often a job is run at most: its own number, or that of its policy."""
    return policy.max_runs if job.max_attempts is None else job.max_attempts


def after_failure(policy: RetryPolicy, job: Job, kind: ErrorKind, now: Instant) -> Retry | Bury:
    """What becomes of a job whose present attempt has failed."""
    if kind is ErrorKind.LOGIC:
        return Bury("an error that another run would not mend")
    if job.attempts >= max_runs(policy, job):
        return Bury(f"all {max_runs(policy, job)} runs are used up")
    return Retry(after(now, policy.delay_s(job.id, job.attempts)))


def idempotency_key(job: Job) -> str:
    """What names a job's effect: the same in every attempt, so that a receiver can drop a repeat.

    The instant of creation is in it, because two databases count their jobs alike.
    """
    return f"{job.type}:{job.id}:{job.created_at}"


def readable_payload(job: Job) -> Any:
    """What a job was given, to be shown; the plain text when it is no JSON."""
    try:
        return msgspec.json.decode(job.payload)
    except msgspec.DecodeError:
        return job.payload


def payload_digest(payload: dict[str, Any]) -> str:
    """What tells two payloads apart, whatever the order of their keys."""
    return blake2b(msgspec.json.encode(payload, order="sorted"), digest_size=16).hexdigest()


def _is_name(text: str) -> bool:
    return 1 <= len(text) <= LONGEST_TEXT and text.isprintable()


def _share(job_id: int, attempt: int) -> float:
    """A number in [0, 1) that looks random and follows from the job and the attempt."""
    digest = blake2b(b"%d:%d" % (job_id, attempt), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def user_part(user_id: str) -> str:
    """How a key names a user. An erasure finds it by that, and takes no other part for it."""
    return f"<{user_id}>"
