"""Alerts, the audit, and what operators do, in the database."""

from __future__ import annotations

from yoked_actor.store.ops.alerts import Alerts
from yoked_actor.store.ops.audit import Audit
from yoked_actor.store.ops.moderation import Moderation, NoSuchWarning, TooManyWarnings
from yoked_actor.store.ops.operators import Operators
from yoked_actor.store.ops.reviews import NothingToDo

__all__ = [
    "Alerts",
    "Audit",
    "Moderation",
    "NoSuchWarning",
    "NothingToDo",
    "Operators",
    "TooManyWarnings",
]
