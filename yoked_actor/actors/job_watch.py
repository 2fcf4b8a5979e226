"""Watches how jobs fare: samples the queue's depth, raises alerts and clears them (R45).

It sleeps while nothing happens and nothing is wrong; otherwise it looks every few seconds.
"""

from __future__ import annotations

from collections import deque

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.domain.alerts import Alert, Numbers, Raised, alerts, percentile
from yoked_actor.domain.instants import Instant, after
from yoked_actor.metrics import JobMetrics
from yoked_actor.settings import JobSettings
from yoked_actor.store import JobStore, StoreUnavailable

_log = structlog.get_logger()

MOST_DURATIONS = 10_000
_SLICES = 60


class _Slice:
    """What was counted in a part of the window."""

    __slots__ = ("completed", "dead", "ends_at")

    def __init__(self, ends_at: Instant) -> None:
        self.ends_at = ends_at
        self.completed = 0
        self.dead = 0


class JobWatch:
    """Counts what ends, and judges it."""

    def __init__(
        self, jobs: JobStore, clock: Clock, settings: JobSettings, metrics: JobMetrics
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._metrics = metrics
        self._limits = settings.limits()
        self._slices: deque[_Slice] = deque()
        self._durations: deque[tuple[Instant, float]] = deque(maxlen=MOST_DURATIONS)
        self._stirred = trio.Event()
        self.raised: dict[Alert, Raised] = {}
        """The alerts that stand now."""

    def stir(self) -> None:
        """Something has happened."""
        self._stirred.set()

    def note(self, *, completed: int, dead: int, seconds: list[float]) -> None:
        """Count runs that have ended, and how long they took."""
        now = self._clock.now()
        if not self._slices or self._slices[-1].ends_at <= now:
            self._slices.append(_Slice(after(now, self._settings.alert_window_s / _SLICES)))
        newest = self._slices[-1]
        newest.completed += completed
        newest.dead += dead
        self._durations.extend((now, one) for one in seconds)
        self._stirred.set()

    async def run(self) -> None:
        """Look while there is something to see."""
        while True:
            await self._stirred.wait()
            self._stirred = trio.Event()
            numbers = await self._look()
            if numbers is not None:
                self._judge(numbers)
            if numbers is None or self.raised or self._slices or numbers.depth:
                self._stirred.set()
                await trio.sleep(self._settings.sample_every_s)

    async def _look(self) -> Numbers | None:
        now = self._clock.now()
        try:
            depth = await self._jobs.depth(now)
            self._metrics.show_kept(await self._jobs.open_counts())
        except StoreUnavailable:
            return None
        self._metrics.due.set(depth)
        since = after(now, -self._settings.alert_window_s)
        while self._slices and self._slices[0].ends_at <= since:
            self._slices.popleft()
        while self._durations and self._durations[0][0] < since:
            self._durations.popleft()
        return Numbers(
            completed=sum(one.completed for one in self._slices),
            dead=sum(one.dead for one in self._slices),
            duration_p95_s=percentile([seconds for _, seconds in self._durations], 0.95),
            depth=depth,
            duplicate_offers=self._metrics.count_duplicate_offers(),
        )

    def _judge(self, numbers: Numbers) -> None:
        raised = {one.alert: one for one in alerts(numbers, self._limits)}
        for alert, one in raised.items():
            if alert not in self.raised:
                _log.error("alert_raised", alert=alert.value, value=one.value, limit=one.limit)
        for alert in self.raised:
            if alert not in raised:
                _log.info("alert_cleared", alert=alert.value)
        for alert, gauge in self._metrics.alerts.items():
            gauge.set(alert in raised)
        self.raised = raised
