"""Counts ended runs, and measures the depth of the queue (R45).

The alarm reads these numbers, judges them, and is woken when they may have changed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.ops import Numbers
from yoked_actor.domain.statistics import percentile
from yoked_actor.domain.time import after
from yoked_actor.settings import JobSettings
from yoked_actor.store import Jobs, StoreUnavailable
from yoked_actor.telemetry import JobMetrics

MOST_DURATIONS = 10_000
_SLICES = 60


class _Slice:
    """The counts of a part of the window."""

    __slots__ = ("completed", "dead", "ends_s", "retried")

    def __init__(self, ends_s: float) -> None:
        self.ends_s = ends_s
        self.completed = 0
        self.dead = 0
        self.retried = 0


class JobWatch:
    """Counts ended runs in a window, and reads the queue on demand."""

    def __init__(
        self, jobs: Jobs, clock: Clock, settings: JobSettings, metrics: JobMetrics
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._metrics = metrics
        self._slices: deque[_Slice] = deque()
        self._durations: deque[tuple[float, float]] = deque(maxlen=MOST_DURATIONS)
        self.is_busy = False
        """Whether a job was due at the last measurement."""
        self._wake: Callable[[], None] | None = None

    def on_change(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever a number may have changed."""
        self._wake = wake

    def wake(self) -> None:
        """A number may have changed."""
        if self._wake is not None:
            self._wake()

    def note(self, *, completed: int, dead: int, seconds: list[float], retried: int = 0) -> None:
        """Count ended runs and their durations."""
        now_s = trio.current_time()
        if not self._slices or self._slices[-1].ends_s <= now_s:
            self._slices.append(_Slice(now_s + self._settings.alert_window_s / _SLICES))
        newest = self._slices[-1]
        newest.completed += completed
        newest.dead += dead
        newest.retried += retried
        self._durations.extend((now_s, one) for one in seconds)
        self.wake()

    async def measure(self) -> Numbers | None:
        """The numbers about jobs; None when the store is unavailable."""
        try:
            now = self._clock.now()
            depth = await self._jobs.depth(now)
            # A job that has just become due does not mean that the queue is behind.
            line = after(now, -self._settings.alert_overdue_s)
            overdue = await self._jobs.overdue(line) if depth else 0
            self._metrics.show_kept(await self._jobs.open_counts())
        except StoreUnavailable:
            return None
        self._metrics.due.set(depth)
        self._metrics.overdue.set(overdue)
        since_s = trio.current_time() - self._settings.alert_window_s
        while self._slices and self._slices[0].ends_s <= since_s:
            self._slices.popleft()
        while self._durations and self._durations[0][0] < since_s:
            self._durations.popleft()
        numbers = Numbers(
            completed=sum(one.completed for one in self._slices),
            dead=sum(one.dead for one in self._slices),
            retried=sum(one.retried for one in self._slices),
            duration_p95_s=percentile([seconds for _, seconds in self._durations], 0.95),
            depth=overdue,
        )
        self.is_busy = depth > 0
        self._metrics.failure_ratio.set(numbers.failure_rate)
        self._metrics.retry_ratio.set(numbers.retry_rate)
        return numbers

    @property
    def remembers(self) -> bool:
        """Whether a run has ended inside the window."""
        return bool(self._slices)
