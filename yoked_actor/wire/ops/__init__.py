"""The admin API and the console's status."""

from __future__ import annotations

from yoked_actor.wire.ops import configuration, console, http, matches, objectives, persons
from yoked_actor.wire.ops.calls import ADMIN_CALLS, AUDIT_CALLS, HEALTH_CALLS, QUALITY_CALLS
from yoked_actor.wire.ops.configuration import SETTING_CALLS
from yoked_actor.wire.ops.console import CONSOLE_CALLS
from yoked_actor.wire.ops.matches import MATCH_CALLS
from yoked_actor.wire.ops.nodes import LeasePart, NodePart, NodesPart
from yoked_actor.wire.ops.objectives import OBJECTIVE_CALLS
from yoked_actor.wire.ops.persons import PERSON_CALLS
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
    "MATCH_CALLS",
    "OBJECTIVE_CALLS",
    "PERSON_CALLS",
    "QUALITY_CALLS",
    "SETTING_CALLS",
    "STATUS",
    "CommitPart",
    "DegradedPart",
    "HourPart",
    "LeasePart",
    "MinutePart",
    "NodePart",
    "NodesPart",
    "Status",
    "WaiterPart",
    "configuration",
    "console",
    "http",
    "matches",
    "objectives",
    "persons",
]
