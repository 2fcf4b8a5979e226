"""The alarm: raises and clears alerts (R45).

It checks all numbers regularly, raises an alert once and clears it once. A change goes to the log
and the metric at once, and to the store together with the job that notifies the webhook. While the
store is unavailable changes wait here and are retried with every check; commit failures are
themselves a reason for an alert. The console reads `standing`.

Raised alerts are stored, so a new process neither raises them again nor forgets to clear them. On a
mock clock the alarm checks only when it is woken or a number is not normal: an idle server does
nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import JobWatch
from yoked_actor.actors.ops.alert_jobs import WEBHOOK, alert_job, dead_letter_job
from yoked_actor.actors.ops.dead_letters import DeadLetterAlarm
from yoked_actor.actors.ops.measuring import Measurements
from yoked_actor.actors.wakeup import Wakeup
from yoked_actor.domain.ops import (
    Alert,
    AlertChange,
    AlertState,
    RaisedAlert,
    judge,
    readings,
)
from yoked_actor.settings import Settings
from yoked_actor.store import Alerts, StoreError, StoreUnavailable
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()

MOST_UNSAVED = 1000


class Alarm:
    """Checks the numbers, judges them, and reports what has changed."""

    def __init__(
        self,
        watch: JobWatch,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        *,
        alerts: Alerts | None = None,
        enqueued: Callable[[], None] | None = None,
        loop_lag_s: Callable[[], float] | None = None,
        free_share: Callable[[], float | None] | None = None,
        lost_files: Callable[[], str | None] | None = None,
        is_restless: bool = False,
    ) -> None:
        """Without `alerts` nothing is stored and the webhook is not notified.

        `enqueued` is called when jobs were added. `is_restless` checks regularly even without
        being woken, because some numbers change by themselves; not for a mock clock.
        """
        self._watch = watch
        self._clock = clock
        self._settings = settings
        self._alerts = alerts
        self._enqueued = enqueued
        self._is_restless = is_restless
        self._gauges = dict(metrics.alerts)
        gauge = self._gauges.pop(Alert.DEAD_LETTER)
        self.dead: DeadLetterAlarm | None = None
        """The alerts about dead letters; None when nothing is stored."""
        if alerts is not None:
            self.dead = DeadLetterAlarm(alerts, settings.alerts, gauge, dead_letter_job, WEBHOOK)
        self._measurements = Measurements(
            *(metrics, settings.alerts),
            loop_lag_s=loop_lag_s,
            free_share=free_share,
            lost_files=lost_files,
        )
        self._unsaved: deque[AlertChange] = deque()
        self._is_loaded = False
        self._stepped_by = clock.stepped_by
        self._wakeup = Wakeup()
        self._wakeup.wake()
        self.standing: dict[Alert, RaisedAlert] = {}
        """The alerts that are raised and not cleared."""
        watch.on_change(self.wake)

    def wake(self) -> None:
        """Check the numbers soon."""
        self._wakeup.wake()

    async def run(self) -> None:
        """Check until cancelled: whenever woken, and regularly while a number is not normal."""
        try:
            await self._load()
        except StoreError:
            # Without its table it still reports alerts in the log and the metric.
            await self._check()
            raise
        while True:
            await self._wakeup.wait()
            is_calm = await self._check()
            if self._is_restless or not is_calm:
                self._wakeup.wake()
                await trio.sleep(self._settings.jobs.sample_every_s)

    async def _load(self) -> None:
        """Load the alerts that the previous process has left raised."""
        if self._alerts is None or self._is_loaded:
            return
        while True:
            try:
                left = await self._alerts.load()
                break
            except StoreUnavailable:
                await trio.sleep(self._settings.jobs.sample_every_s)
        self._is_loaded = True
        self.standing = {one.alert: one for one in left} | self.standing
        for alert in (one.alert for one in left):
            _log.warning("alert_still_raised", alert=alert.value)
        self._set_gauges()

    async def _check(self) -> bool:
        """Check once; True when all is normal."""
        broken: StoreError | None = None
        try:
            jobs = await self._watch.measure()
        except StoreError as error:
            jobs, broken = None, error
        now, now_s = self._clock.now(), trio.current_time()
        self._follow_clock()
        numbers, unread = self._measurements.read(jobs, now_s)
        found = readings(numbers, self._settings.alerts.limits(self._settings.jobs))
        found = [one for one in found if one.alert not in unread]
        self.standing, changes = judge(
            self.standing, found, now, self._settings.alerts.clear_after_s
        )
        self._report(changes)
        await self._save()
        if broken is not None:
            raise broken
        if self.dead is not None and await self.dead.check(now) and self._enqueued is not None:
            self._enqueued()
        return jobs is not None and not (
            self.standing
            or (self.dead is not None and self.dead.standing)
            or self._unsaved
            or self._watch.is_busy
            or self._watch.remembers
            or self._measurements.has_grown
        )

    def _follow_clock(self) -> None:
        """Move the instants of raised alerts by the steps of the clock."""
        by = self._clock.stepped_by - self._stepped_by
        if by:
            self._stepped_by += by
            self.standing = {
                alert: one
                if one.within_since is None
                else msgspec.structs.replace(one, within_since=one.within_since + by)
                for alert, one in self.standing.items()
            }

    def _report(self, changes: list[AlertChange]) -> None:
        for one in changes:
            if one.state is AlertState.RAISED:
                _log.error("alert_raised", alert=one.alert.value, value=one.value, limit=one.limit)
            else:
                _log.info("alert_cleared", alert=one.alert.value, value=one.value, limit=one.limit)
        self._set_gauges()
        if self._alerts is not None:
            self._unsaved.extend(changes)
        while len(self._unsaved) > MOST_UNSAVED:
            dropped = self._unsaved.popleft()
            _log.error("alert_not_told", alert=dropped.alert.value, state=dropped.state.value)

    def _set_gauges(self) -> None:
        for alert, gauge in self._gauges.items():
            gauge.set(alert in self.standing)

    async def _save(self) -> None:
        """Store changes with the jobs that notify the webhook; on failure they wait."""
        if self._alerts is None or not self._unsaved:
            return
        changes = list(self._unsaved)
        is_notified = bool(self._settings.alerts.webhook_url)
        jobs = [alert_job(change) for change in changes] if is_notified else []
        try:
            await self._alerts.record(changes, jobs, self._clock.now())
        except StoreUnavailable as error:
            _log.warning("alerts_not_stored", count=len(changes), error=str(error))
            return
        self._unsaved.clear()
        if jobs and self._enqueued is not None:
            self._enqueued()
