"""Care of the database file: backups, and what the doctor inspects."""

from __future__ import annotations

from yoked_actor.store.upkeep.backup import (
    SEAL_BYTES,
    BadBackup,
    back_up,
    check_backup,
    restore_backup,
)
from yoked_actor.store.upkeep.inspection import Inspection, inspect_database
from yoked_actor.store.upkeep.invariants import INVARIANTS

__all__ = [
    "INVARIANTS",
    "SEAL_BYTES",
    "BadBackup",
    "Inspection",
    "back_up",
    "check_backup",
    "inspect_database",
    "restore_backup",
]
