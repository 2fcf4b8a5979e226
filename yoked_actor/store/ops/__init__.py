"""Alerts and the audit in the database."""

from __future__ import annotations

from yoked_actor.store.ops.alerts import Alerts, SqliteAlerts
from yoked_actor.store.ops.audit import NothingToDo, SqliteAudit

__all__ = [
    "Alerts",
    "NothingToDo",
    "SqliteAlerts",
    "SqliteAudit",
]
