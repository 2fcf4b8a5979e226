"""The engines: SQLite, and PostgreSQL; the writer, transactions, errors.

`engine.postgres` is imported only when a store is opened on it: psycopg is optional.
"""

from __future__ import annotations

from yoked_actor.store.engine.audit import record_in
from yoked_actor.store.engine.bulk import insert_rows
from yoked_actor.store.engine.database import Bell, Database
from yoked_actor.store.engine.errors import (
    CommitInDoubt,
    DatabaseCorrupt,
    DatabaseInUse,
    DatabaseLost,
    DatabaseTooNew,
    DataDirectoryInUse,
    StoreError,
    StoreMisconfigured,
    StoreUnavailable,
    WriteRefused,
    explain,
)
from yoked_actor.store.engine.pruning import prune_oldest
from yoked_actor.store.engine.readable import read_row, read_rows
from yoked_actor.store.engine.runners import InlineRunner, Runner, ThreadRunner
from yoked_actor.store.engine.sqlite import (
    Checkpoints,
    DirectoryLock,
    Migration,
    OpenFiles,
    SqliteDatabase,
    SqliteTransactions,
    WriteTurns,
    check_is_current,
    connect,
    connect_for_writing,
    engine_version,
    explained,
    holder_of,
    migrate,
    migrate_database,
    newest_schema,
    pending_migrations,
    reserve_wal,
    schema_of,
)
from yoked_actor.store.engine.statements import joined, statement
from yoked_actor.store.engine.stepping import going_on
from yoked_actor.store.engine.transaction import Row, Tx, inserted_id, snapshot
from yoked_actor.store.engine.turns import Turn
from yoked_actor.store.engine.writer import Writer
from yoked_actor.store.engine.writes import Batch, Write

__all__ = [
    "Batch",
    "Bell",
    "Checkpoints",
    "CommitInDoubt",
    "DataDirectoryInUse",
    "Database",
    "DatabaseCorrupt",
    "DatabaseInUse",
    "DatabaseLost",
    "DatabaseTooNew",
    "DirectoryLock",
    "InlineRunner",
    "Migration",
    "OpenFiles",
    "Row",
    "Runner",
    "SqliteDatabase",
    "SqliteTransactions",
    "StoreError",
    "StoreMisconfigured",
    "StoreUnavailable",
    "ThreadRunner",
    "Turn",
    "Tx",
    "Write",
    "WriteRefused",
    "WriteTurns",
    "Writer",
    "check_is_current",
    "connect",
    "connect_for_writing",
    "engine_version",
    "explain",
    "explained",
    "going_on",
    "holder_of",
    "insert_rows",
    "inserted_id",
    "joined",
    "migrate",
    "migrate_database",
    "newest_schema",
    "pending_migrations",
    "prune_oldest",
    "read_row",
    "read_rows",
    "record_in",
    "reserve_wal",
    "schema_of",
    "snapshot",
    "statement",
]
