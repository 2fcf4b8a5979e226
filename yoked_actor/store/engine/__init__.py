"""SQLite itself: connections, transactions, the writer, migrations, backup, errors."""

from __future__ import annotations

from yoked_actor.store.engine.audit import record_in
from yoked_actor.store.engine.connections import (
    connect,
    connect_for_writing,
    engine_version,
    explained,
)
from yoked_actor.store.engine.database import Database
from yoked_actor.store.engine.directory_lock import DirectoryLock, holder_of
from yoked_actor.store.engine.errors import (
    DatabaseCorrupt,
    DatabaseLost,
    DatabaseTooNew,
    DataDirectoryInUse,
    StoreError,
    StoreUnavailable,
    WriteRefused,
    explain,
)
from yoked_actor.store.engine.open_files import OpenFiles
from yoked_actor.store.engine.pruning import prune_oldest
from yoked_actor.store.engine.readable import read_row, read_rows
from yoked_actor.store.engine.runners import InlineRunner, Runner, ThreadRunner
from yoked_actor.store.engine.schema import (
    Migration,
    check_is_current,
    migrate,
    migrate_database,
    newest_schema,
    pending_migrations,
    schema_of,
)
from yoked_actor.store.engine.statements import statement
from yoked_actor.store.engine.transaction import Row, Tx, snapshot
from yoked_actor.store.engine.write_turns import WriteTurns
from yoked_actor.store.engine.writer import Batch, Writer

__all__ = [
    "Batch",
    "DataDirectoryInUse",
    "Database",
    "DatabaseCorrupt",
    "DatabaseLost",
    "DatabaseTooNew",
    "DirectoryLock",
    "InlineRunner",
    "Migration",
    "OpenFiles",
    "Row",
    "Runner",
    "StoreError",
    "StoreUnavailable",
    "ThreadRunner",
    "Tx",
    "WriteRefused",
    "WriteTurns",
    "Writer",
    "check_is_current",
    "connect",
    "connect_for_writing",
    "engine_version",
    "explain",
    "explained",
    "holder_of",
    "migrate",
    "migrate_database",
    "newest_schema",
    "pending_migrations",
    "prune_oldest",
    "read_row",
    "read_rows",
    "record_in",
    "schema_of",
    "snapshot",
    "statement",
]
