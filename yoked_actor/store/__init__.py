"""The store: what outlives the process. One interface, kept by SQLite behind one writer task."""

from __future__ import annotations

from yoked_actor.store.errors import (
    DatabaseCorrupt,
    DatabaseLost,
    DatabaseTooNew,
    DataDirectoryInUse,
    StoreError,
    StoreUnavailable,
    WriteRefused,
)
from yoked_actor.store.interface import (
    GroupQuality,
    Percentiles,
    QualityReport,
    Recovered,
    Report,
    ReportLimits,
    Store,
    TooManyReports,
)
from yoked_actor.store.job_rows import enqueue_in
from yoked_actor.store.jobs import (
    CancelAsked,
    Effect,
    Enqueued,
    JobStore,
    KeyConflict,
    LeaseLost,
    NoSuchJob,
)
from yoked_actor.store.lease_clock import MachineTime, ReadMachineTime
from yoked_actor.store.runners import InlineRunner, Runner, ThreadRunner
from yoked_actor.store.sqlite import SqliteStore, open_store
from yoked_actor.store.sqlite_alerts import Alerts
from yoked_actor.store.writer import Batch

__all__ = [
    "Alerts",
    "Batch",
    "CancelAsked",
    "DataDirectoryInUse",
    "DatabaseCorrupt",
    "DatabaseLost",
    "DatabaseTooNew",
    "Effect",
    "Enqueued",
    "GroupQuality",
    "InlineRunner",
    "JobStore",
    "KeyConflict",
    "LeaseLost",
    "MachineTime",
    "NoSuchJob",
    "Percentiles",
    "QualityReport",
    "ReadMachineTime",
    "Recovered",
    "Report",
    "ReportLimits",
    "Runner",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "ThreadRunner",
    "TooManyReports",
    "WriteRefused",
    "enqueue_in",
    "open_store",
]
