"""The store: what outlives the process. One interface, kept by SQLite behind one writer task."""

from __future__ import annotations

from yoked_actor.store.errors import (
    DatabaseCorrupt,
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
    Store,
)
from yoked_actor.store.runners import InlineRunner, Runner, ThreadRunner
from yoked_actor.store.sqlite import SqliteStore, open_store
from yoked_actor.store.writer import Batch

__all__ = [
    "Batch",
    "DataDirectoryInUse",
    "DatabaseCorrupt",
    "DatabaseTooNew",
    "GroupQuality",
    "InlineRunner",
    "Percentiles",
    "QualityReport",
    "Recovered",
    "Report",
    "Runner",
    "SqliteStore",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "ThreadRunner",
    "WriteRefused",
    "open_store",
]
