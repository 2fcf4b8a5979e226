"""How far the event loop lags: a task sleeps, and sees how much later than asked it is woken.

On a real clock only. On a mock clock nothing ever lags, and a task that wakes again and again would
keep an autojumping clock from finding the next thing that matters.
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
        """What ninety-nine of a hundred samples of the last minute stay at or below."""
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
