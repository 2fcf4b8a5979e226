"""Jobs as values: statuses, limits, retries."""

from __future__ import annotations

from yoked_actor.domain.jobs.job import (
    MOST_ATTEMPTS,
    Dismissal,
    Job,
    JobAttempt,
    NewJob,
    NotDismissable,
    Progress,
    checked_reason,
    idempotency_key,
    payload_digest,
    readable_payload,
    user_part,
)
from yoked_actor.domain.jobs.operations import BulkAction, JobFilter, Pause
from yoked_actor.domain.jobs.receiver_answers import KeptAnswer, ReceiverAnswer
from yoked_actor.domain.jobs.retries import (
    DEFAULT_POLICY,
    Cancel,
    ErrorKind,
    Permanent,
    Retry,
    RetryPolicy,
    Snooze,
    Transient,
    after_failure,
    max_runs,
)
from yoked_actor.domain.jobs.states import (
    JOB_TRANSITIONS,
    ImpossibleJobMove,
    JobCause,
    JobStatus,
    next_status,
)

__all__ = [
    "DEFAULT_POLICY",
    "JOB_TRANSITIONS",
    "MOST_ATTEMPTS",
    "BulkAction",
    "Cancel",
    "Dismissal",
    "ErrorKind",
    "ImpossibleJobMove",
    "Job",
    "JobAttempt",
    "JobCause",
    "JobFilter",
    "JobStatus",
    "KeptAnswer",
    "NewJob",
    "NotDismissable",
    "Pause",
    "Permanent",
    "Progress",
    "ReceiverAnswer",
    "Retry",
    "RetryPolicy",
    "Snooze",
    "Transient",
    "after_failure",
    "checked_reason",
    "idempotency_key",
    "max_runs",
    "next_status",
    "payload_digest",
    "readable_payload",
    "user_part",
]
