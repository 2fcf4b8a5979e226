"""SQLite: connections, transactions, migrations, and what its files need."""

from __future__ import annotations

from yoked_actor.store.engine.errors import explained_by
from yoked_actor.store.engine.sqlite.checkpoints import Checkpoints
from yoked_actor.store.engine.sqlite.connections import (
    connect,
    connect_for_writing,
    engine_version,
    explained,
)
from yoked_actor.store.engine.sqlite.database import SqliteDatabase
from yoked_actor.store.engine.sqlite.directory_lock import DirectoryLock, holder_of
from yoked_actor.store.engine.sqlite.errors import explain_sqlite
from yoked_actor.store.engine.sqlite.open_files import OpenFiles
from yoked_actor.store.engine.sqlite.schema import (
    Migration,
    check_is_current,
    migrate,
    migrate_database,
    newest_schema,
    pending_migrations,
    schema_of,
)
from yoked_actor.store.engine.sqlite.transactions import SqliteTransactions
from yoked_actor.store.engine.sqlite.wal_space import reserve_wal
from yoked_actor.store.engine.sqlite.write_turns import WriteTurns

__all__ = [
    "Checkpoints",
    "DirectoryLock",
    "Migration",
    "OpenFiles",
    "SqliteDatabase",
    "SqliteTransactions",
    "WriteTurns",
    "check_is_current",
    "connect",
    "connect_for_writing",
    "engine_version",
    "explained",
    "holder_of",
    "migrate",
    "migrate_database",
    "newest_schema",
    "pending_migrations",
    "reserve_wal",
    "schema_of",
]

explained_by(explain_sqlite)
