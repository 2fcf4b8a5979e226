"""What a handler returns or raises, and what a failure leads to (R33)."""

from __future__ import annotations

from enum import StrEnum
from hashlib import blake2b

import msgspec

from yoked_actor.domain.jobs.job import Job
from yoked_actor.domain.time import Instant, after


class Transient(Exception):
    """Raised by a handler: another run may succeed, so the retry policy decides."""


class Permanent(Exception):
    """Raised by a handler: no run will succeed, so the job is a dead letter at once."""


class Snooze(msgspec.Struct, frozen=True):
    """Returned by a handler: run again after so many seconds; this attempt does not count."""

    seconds: float


class Cancel(msgspec.Struct, frozen=True):
    """Returned by a handler: the job is no longer needed."""

    reason: str


class ErrorKind(StrEnum):
    """The kinds of errors that a policy distinguishes."""

    TRANSIENT = "transient"
    LOST_LEASE = "lost_lease"
    LOGIC = "logic"


DEFAULT_RUNS = 5


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often a job is run, and how long it waits between two runs.

    `delays_s` are the pauses; the last one repeats. Without them the pause after run n is
    `min(cap_s, base_s * 2 ** (n - 1))`. Without `runs` there is one run more than pauses, or
    `DEFAULT_RUNS`. `jitter` lengthens a pause by up to that share, always the same for the same job
    and run.
    """

    delays_s: tuple[float, ...] = ()
    base_s: float = 60.0
    cap_s: float = 3600.0
    runs: int | None = None
    jitter: float = 0.0

    @property
    def max_runs(self) -> int:
        """The most runs of a job."""
        if self.runs is not None:
            return self.runs
        return len(self.delays_s) + 1 if self.delays_s else DEFAULT_RUNS

    def delay_s(self, job_id: int, attempt: int) -> float:
        """The pause after the given run, counted from 1."""
        if self.delays_s:
            pause_s = self.delays_s[min(attempt, len(self.delays_s)) - 1]
        else:
            # Any larger power of two is above the cap, or above the largest float.
            pause_s = min(self.cap_s, self.base_s * 2.0 ** min(attempt - 1, 64))
        return pause_s * (1.0 + self.jitter * _share(job_id, attempt))


DEFAULT_POLICY = RetryPolicy(jitter=0.1)


class Retry(msgspec.Struct, frozen=True):
    """Run it again, at an instant."""

    at: Instant


class DeadLetter(msgspec.Struct, frozen=True):
    """Make it a dead letter."""

    reason: str


def max_runs(policy: RetryPolicy, job: Job) -> int:
    """The most runs of a job: its own number, or that of its policy."""
    return policy.max_runs if job.max_attempts is None else job.max_attempts


def after_failure(
    policy: RetryPolicy, job: Job, kind: ErrorKind, now: Instant
) -> Retry | DeadLetter:
    """What to do with a job whose present attempt has failed."""
    if kind is ErrorKind.LOGIC:
        return DeadLetter("an error that another run would not fix")
    if job.attempts >= max_runs(policy, job):
        return DeadLetter(f"all {max_runs(policy, job)} runs are used up")
    return Retry(after(now, policy.delay_s(job.id, job.attempts)))


def _share(job_id: int, attempt: int) -> float:
    """A number in [0, 1) that looks random and follows from the job and the attempt."""
    digest = blake2b(b"%d:%d" % (job_id, attempt), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48
