"""For operators: their roles, alerts, objectives, counts of the last hour, the audit log."""

from __future__ import annotations

from yoked_actor.domain.ops.alerts import (
    Alert,
    AlertChange,
    AlertState,
    DeadLetterChange,
    DeadLetters,
    Limits,
    Numbers,
    RaisedAlert,
    judge,
    readings,
)
from yoked_actor.domain.ops.audit import AuditEntry
from yoked_actor.domain.ops.objectives import EventCounts, Goal, Objective, Tally
from yoked_actor.domain.ops.recent import Minute, RecentMinutes
from yoked_actor.domain.ops.roles import Role, role_named

__all__ = [
    "Alert",
    "AlertChange",
    "AlertState",
    "AuditEntry",
    "DeadLetterChange",
    "DeadLetters",
    "EventCounts",
    "Goal",
    "Limits",
    "Minute",
    "Numbers",
    "Objective",
    "RaisedAlert",
    "RecentMinutes",
    "Role",
    "Tally",
    "judge",
    "readings",
    "role_named",
]
