"""The only reader of time.

An instant of ours is where the server's clock started plus what trio's clock has counted since.
On trio's real clock that is the time of day, immune to steps of the system clock; on a mock clock
it is whatever the test says, and the whole server follows.
"""

from __future__ import annotations

import time
from datetime import datetime

import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from yoked_actor.domain.instants import MICROSECONDS, Instant, from_datetime


class Clock:
    """Tells the instant, and the trio deadline of an instant."""

    def __init__(self, start_at: Instant) -> None:
        self._start_at = start_at
        self._trio_start = trio.current_time()

    @classmethod
    def real(cls) -> Clock:
        """A clock that shows the time of day."""
        return cls(time.time_ns() // 1000)

    @classmethod
    def starting(cls, moment: datetime) -> Clock:
        """A clock that shows `moment` now."""
        return cls(from_datetime(moment))

    def now(self) -> Instant:
        """The present instant."""
        return self._start_at + round((trio.current_time() - self._trio_start) * MICROSECONDS)

    def trio_time(self, at: Instant) -> float:
        """When, on trio's clock, an instant comes."""
        return self._trio_start + (at - self._start_at) / MICROSECONDS


async def advance(mock: MockClock, seconds: float) -> None:
    """Move a mock clock, stopping at every deadline on the way; returns when all due has run.

    A single jump would let everything happen at its end; stopping at each deadline makes the time
    between them pass as it would on a real clock.
    """
    target = trio.current_time() + seconds
    await wait_all_tasks_blocked()
    while (remaining := target - trio.current_time()) > 0:
        upcoming = trio.lowlevel.current_statistics().seconds_to_next_deadline
        mock.jump(min(remaining, max(upcoming, 0.0)))
        await wait_all_tasks_blocked()
