"""Opens the monitoring of the process: clock steps, alerts, the lag of the event loop."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio

from yoked_actor.actors.clock import CHECK_EVERY_S
from yoked_actor.app.base import Base


@asynccontextmanager
async def open_ops(base: Base) -> AsyncIterator[None]:
    """Run them until the block is left."""
    is_real = base.mock_clock is None
    check_every_s = CHECK_EVERY_S if is_real else math.inf
    watch_clock = partial(base.clock.watch, base.metrics.clock.count, check_every_s)
    run_side = base.supervisor.run_side
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run_side, "clock", watch_clock)
        nursery.start_soon(run_side, "alarm", base.alarm.run)
        if is_real:
            nursery.start_soon(run_side, "loop_lag", base.loop_lag.run)
        yield
        nursery.cancel_scope.cancel()
