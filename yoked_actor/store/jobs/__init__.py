"""The job queue in the database."""

from __future__ import annotations

from yoked_actor.store.jobs.erased import (
    ERASE_JOB,
    erase_from_jobs,
    errors_naming,
    jobs_naming,
    keys_naming,
)
from yoked_actor.store.jobs.lease_clock import (
    LeaseClock,
    MachineTime,
    ReadMachineTime,
    open_lease_clock,
    read_lease_clock,
)
from yoked_actor.store.jobs.port import (
    Buried,
    CancelAsked,
    Cancelled,
    Completed,
    Effect,
    Enqueued,
    Failed,
    JobStore,
    KeptAnswer,
    KeyConflict,
    LeaseLost,
    NoSuchJob,
    Outcome,
    ReceiverAnswer,
    Snoozed,
)
from yoked_actor.store.jobs.rows import enqueue_in
from yoked_actor.store.jobs.sqlite import SqliteJobs, keep_answer_in

__all__ = [
    "ERASE_JOB",
    "Buried",
    "CancelAsked",
    "Cancelled",
    "Completed",
    "Effect",
    "Enqueued",
    "Failed",
    "JobStore",
    "KeptAnswer",
    "KeyConflict",
    "LeaseClock",
    "LeaseLost",
    "MachineTime",
    "NoSuchJob",
    "Outcome",
    "ReadMachineTime",
    "ReceiverAnswer",
    "Snoozed",
    "SqliteJobs",
    "enqueue_in",
    "erase_from_jobs",
    "errors_naming",
    "jobs_naming",
    "keep_answer_in",
    "keys_naming",
    "open_lease_clock",
    "read_lease_clock",
]
