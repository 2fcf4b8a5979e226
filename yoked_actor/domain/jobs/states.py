"""The statuses of a job and every transition between them (R31, R32).

`JOB_TRANSITIONS` is the complete table: a (status, cause) that is not in it is refused and changes
nothing. The diagram in `docs/jobs.md` is generated from it.

A job is due when it is pending or failed and its time has come. The worker that claims it gets a
lease and a fence, a number that only grows; every later write of that attempt must name the fence.
"""

from __future__ import annotations

from enum import StrEnum


class JobStatus(StrEnum):
    """The status of a job."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    CANCELLED = "cancelled"


class JobCause(StrEnum):
    """Why a job changes its status. The values are stored and shown."""

    CLAIMED = "claimed"
    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTERED = "dead_lettered"
    SNOOZED = "snoozed"
    CANCELLED = "cancelled"
    LEASE_ENDED = "lease_ended"
    RETRIED = "retried"
    REQUEUED = "requeued"


JOB_TRANSITIONS: dict[tuple[JobStatus, JobCause], JobStatus] = {
    (JobStatus.PENDING, JobCause.CLAIMED): JobStatus.IN_PROGRESS,
    (JobStatus.PENDING, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.FAILED, JobCause.CLAIMED): JobStatus.IN_PROGRESS,
    (JobStatus.FAILED, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.FAILED, JobCause.RETRIED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.COMPLETED): JobStatus.COMPLETED,
    (JobStatus.IN_PROGRESS, JobCause.FAILED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.LEASE_ENDED): JobStatus.FAILED,
    (JobStatus.IN_PROGRESS, JobCause.DEAD_LETTERED): JobStatus.DEAD_LETTER,
    (JobStatus.IN_PROGRESS, JobCause.SNOOZED): JobStatus.PENDING,
    (JobStatus.IN_PROGRESS, JobCause.CANCELLED): JobStatus.CANCELLED,
    (JobStatus.DEAD_LETTER, JobCause.REQUEUED): JobStatus.PENDING,
    (JobStatus.CANCELLED, JobCause.REQUEUED): JobStatus.PENDING,
}

WAITING = frozenset({JobStatus.PENDING, JobStatus.FAILED})

LIVE = WAITING | {JobStatus.IN_PROGRESS}

ENDED = frozenset(JobStatus) - LIVE


class ImpossibleJobMove(Exception):
    """A cause that is not possible for a job in this status; nothing was changed."""

    def __init__(self, job_id: int, status: JobStatus, cause: JobCause) -> None:
        super().__init__(f"job {job_id} is {status} and cannot be {cause}")
        self.job_id = job_id
        self.status = status
        self.cause = cause


def next_status(job_id: int, status: JobStatus, cause: JobCause) -> JobStatus:
    """The status that a cause leads to, or `ImpossibleJobMove`."""
    try:
        return JOB_TRANSITIONS[status, cause]
    except KeyError:
        raise ImpossibleJobMove(job_id, status, cause) from None
