"""The dispatcher of durable jobs."""

from __future__ import annotations

from yoked_actor.actors.jobs.dispatcher import Dispatcher
from yoked_actor.actors.jobs.job_types import JobRun
from yoked_actor.actors.jobs.reports import EndedRun
from yoked_actor.actors.jobs.upkeep import prune_job, register_upkeep
from yoked_actor.actors.jobs.wakeups import (
    OtherDispatchers,
    listen_for_wakeups,
    wake_other_processes,
)
from yoked_actor.actors.jobs.watch import JobWatch

__all__ = [
    "Dispatcher",
    "EndedRun",
    "JobRun",
    "JobWatch",
    "OtherDispatchers",
    "listen_for_wakeups",
    "prune_job",
    "register_upkeep",
    "wake_other_processes",
]
