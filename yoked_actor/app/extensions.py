"""Job types of the deployer: functions of installed packages that register them.

A package names such a function in the entry point group `yoked_actor.job_types`. It is called once,
when the server or a worker starts, with the dispatcher. A function that fails is logged and left
out: the server starts without its types, and their jobs wait.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoints, entry_points

import structlog

from yoked_actor.actors.jobs import Dispatcher

GROUP = "yoked_actor.job_types"

_log = structlog.get_logger()


def register_extensions(dispatcher: Dispatcher) -> None:
    """Call every function of the group, in the order of their names."""
    for point in sorted(_found(), key=lambda one: one.name):
        before = dispatcher.types
        try:
            point.load()(dispatcher)
        except Exception:
            _log.exception("job_types_not_registered", name=point.name, function=point.value)
        else:
            _log.info(
                "job_types_registered", name=point.name, types=sorted(dispatcher.types - before)
            )


@cache
def _found() -> EntryPoints:
    """The entry points of the group: looking for them reads the metadata of every package."""
    return entry_points(group=GROUP)
