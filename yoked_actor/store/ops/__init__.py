"""Alerts, the audit, and what operators do, in the database."""

from __future__ import annotations

from yoked_actor.store.ops.alerts import Alerts
from yoked_actor.store.ops.audit import Audit
from yoked_actor.store.ops.operators import NothingToDo, Operators

__all__ = [
    "Alerts",
    "Audit",
    "NothingToDo",
    "Operators",
]
