"""Instants, local days, time zones, rate limits."""

from __future__ import annotations

from yoked_actor.domain.time.instants import (
    MICROSECONDS,
    Instant,
    after,
    from_datetime,
    microseconds,
    seconds_between,
    to_datetime,
    utc_date,
)
from yoked_actor.domain.time.local_day import (
    LONGEST_LOOK_BACK,
    Run,
    is_current,
    local_date,
    next_run,
    run_instant,
    sort_runs,
)
from yoked_actor.domain.time.machine_time import MachineTime, ReadMachineTime
from yoked_actor.domain.time.token_bucket import TokenBucket
from yoked_actor.domain.time.zones import tzdata_version, zone_named, zone_names

__all__ = [
    "LONGEST_LOOK_BACK",
    "MICROSECONDS",
    "Instant",
    "MachineTime",
    "ReadMachineTime",
    "Run",
    "TokenBucket",
    "after",
    "from_datetime",
    "is_current",
    "local_date",
    "microseconds",
    "next_run",
    "run_instant",
    "seconds_between",
    "sort_runs",
    "to_datetime",
    "tzdata_version",
    "utc_date",
    "zone_named",
    "zone_names",
]
