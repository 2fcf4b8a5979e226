"""Care of the database file: backups, and what the doctor inspects."""

from __future__ import annotations

from yoked_actor.store.upkeep.backup import (
    SEAL_BYTES,
    BadBackup,
    back_up,
    check_backup,
    restore_backup,
)
from yoked_actor.store.upkeep.copying import CopiedTable, TargetNotEmpty, copy_store
from yoked_actor.store.upkeep.inspection import (
    Inspection,
    inspect_database,
    inspect_postgres,
    postgres_version,
)
from yoked_actor.store.upkeep.invariants import INVARIANTS

__all__ = [
    "INVARIANTS",
    "SEAL_BYTES",
    "BadBackup",
    "CopiedTable",
    "Inspection",
    "TargetNotEmpty",
    "back_up",
    "check_backup",
    "copy_store",
    "inspect_database",
    "inspect_postgres",
    "postgres_version",
    "restore_backup",
]
