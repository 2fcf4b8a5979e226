"""The admin API and the console's status."""

from __future__ import annotations

from yoked_actor.wire.ops import console, http, objectives
from yoked_actor.wire.ops.calls import ADMIN_CALLS, AUDIT_CALLS, HEALTH_CALLS, QUALITY_CALLS
from yoked_actor.wire.ops.console import CONSOLE_CALLS
from yoked_actor.wire.ops.objectives import OBJECTIVE_CALLS
from yoked_actor.wire.ops.status import (
    CommitPart,
    DegradedPart,
    HourPart,
    MinutePart,
    Status,
    WaiterPart,
)
from yoked_actor.wire.ops.status_example import STATUS

__all__ = [
    "ADMIN_CALLS",
    "AUDIT_CALLS",
    "CONSOLE_CALLS",
    "HEALTH_CALLS",
    "OBJECTIVE_CALLS",
    "QUALITY_CALLS",
    "STATUS",
    "CommitPart",
    "DegradedPart",
    "HourPart",
    "MinutePart",
    "Status",
    "WaiterPart",
    "console",
    "http",
    "objectives",
]
