"""The job queue in the database."""

from __future__ import annotations

from yoked_actor.store.jobs.answers import keep_answer_in
from yoked_actor.store.jobs.enqueuing import enqueue_in, enqueue_one_in
from yoked_actor.store.jobs.erased import (
    ERASE_JOB,
    erase_from_jobs,
    errors_naming,
    jobs_naming,
    keys_naming,
)
from yoked_actor.store.jobs.jobs import Jobs
from yoked_actor.store.jobs.lease_clock import LeaseClock, open_lease_clock, read_lease_clock
from yoked_actor.store.jobs.values import (
    CancelAsked,
    Cancelled,
    Completed,
    DeadLettered,
    Effect,
    Enqueued,
    Failed,
    JointEffect,
    KeyConflict,
    LeaseLost,
    NoSuchJob,
    Outcome,
    Snoozed,
)

__all__ = [
    "ERASE_JOB",
    "CancelAsked",
    "Cancelled",
    "Completed",
    "DeadLettered",
    "Effect",
    "Enqueued",
    "Failed",
    "Jobs",
    "JointEffect",
    "KeyConflict",
    "LeaseClock",
    "LeaseLost",
    "NoSuchJob",
    "Outcome",
    "Snoozed",
    "enqueue_in",
    "enqueue_one_in",
    "erase_from_jobs",
    "errors_naming",
    "jobs_naming",
    "keep_answer_in",
    "keys_naming",
    "open_lease_clock",
    "read_lease_clock",
]
