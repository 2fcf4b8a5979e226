"""The lag of the event loop: a task sleeps, and measures how late it wakes.

For a real clock only. A mock clock has no lag, and an autojump clock would stop at every wake-up of
this task.
"""

from __future__ import annotations

from collections import deque

import trio
from prometheus_client import Histogram

from yoked_actor.domain.statistics import percentile

EVERY_S = 0.25
_KEPT = 240


class LoopLag:
    """Samples the lag, four times a second, and keeps the last minute."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._recent: deque[float] = deque(maxlen=_KEPT)

    @property
    def p99_s(self) -> float:
        """The 99th percentile of the last minute."""
        return percentile(self._recent, 0.99)

    async def run(self) -> None:
        """Sample until cancelled."""
        while True:
            due = trio.current_time() + EVERY_S
            await trio.sleep_until(due)
            self.note(trio.current_time() - due)

    def note(self, lag_s: float) -> None:
        """Count one sample."""
        self._recent.append(lag_s)
        self._histogram.observe(lag_s)
