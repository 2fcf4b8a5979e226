"""The machine's own time, by which leases are judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from yoked_actor.domain.time.instants import Instant


class MachineTime(NamedTuple):
    """One reading: which boot of the machine, its uptime in microseconds, and the time of day."""

    boot: str
    uptime: int
    now: Instant


ReadMachineTime = Callable[[], MachineTime]
