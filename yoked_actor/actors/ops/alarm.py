"""The alarm: the one place where it is judged whether somebody has to look (R45).

It looks at every number now and then, raises an alert once and clears it once: in the log and the
metric at once, for the console by being asked, and in the store together with the job that tells
the webhook. While the store is away those last two wait here and are tried again with every look;
commit failures are a reason for an alert, so that has to be so.

What stands is stored, so a new process neither raises it again nor forgets to clear it. On a mock
clock it looks only when something has happened or something is wrong; there an idle server does
nothing at all.
"""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec
import structlog
import trio
from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import JobWatch
from yoked_actor.actors.ops.dead_letters import DeadLetterAlarm
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.ops import (
    Alert,
    AlertChange,
    AlertState,
    DeadLetterChange,
    Numbers,
    RaisedAlert,
    judge,
    readings,
)
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.settings import Settings
from yoked_actor.store import Alerts, StoreError, StoreUnavailable
from yoked_actor.telemetry import Metrics, count_of

_log = structlog.get_logger()

WEBHOOK = "alerts.webhook"
MOST_UNSAVED = 1000
_ABOUT_JOBS = frozenset({Alert.FAILURE_RATE, Alert.DURATION, Alert.DEPTH})


class AlertNews(BaseModel):
    """What a receiver is told of a change. Moments are ISO 8601, in UTC."""

    alert: str
    state: str
    value: float
    limit: float
    at: str
    raised_at: str
    job_type: str | None = None
    error_kind: str | None = None
    count: int | None = None
    job_id: int | None = None
    """Of dead letters: which, how many, and the first."""


class Alarm:
    """Looks, judges, and says what has changed."""

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
        """Without `alerts` nothing is kept and no webhook is told.

        `enqueued` is called when jobs were added. `is_restless` looks at all times, because some
        numbers change without anybody telling; not for a mock clock.
        """
        self._watch = watch
        self._clock = clock
        self._settings = settings
        self._alerts = alerts
        self._enqueued = enqueued
        self._loop_lag_s = loop_lag_s
        self._free_share = free_share
        self._lost_files = lost_files
        self._is_restless = is_restless
        self._gauges = dict(metrics.alerts)
        gauge = self._gauges.pop(Alert.DEAD_LETTER)
        self.dead: DeadLetterAlarm | None = None
        """The alerts about dead letters; None when nothing is kept."""
        if alerts is not None:
            self.dead = DeadLetterAlarm(alerts, settings.alerts, gauge, news_of_dead, WEBHOOK)
        self._duplicates = _Recent(lambda: count_of(metrics.sets.duplicate_offers))
        self._failures = _Recent(lambda: count_of(metrics.store.commit_failures))
        self._violations = _Recent(lambda: count_of(metrics.lobby.audit_violations))
        self._restarts = _Recent(lambda: metrics.actors.restarts)
        self._unsaved: deque[AlertChange] = deque()
        self._has_taken_over = False
        self._stepped_by = clock.stepped_by
        self._wakeup = trio.Event()
        self._wakeup.set()
        self.standing: dict[Alert, RaisedAlert] = {}
        """The alerts that are raised and not over."""
        watch.on_change(self.wake)

    def wake(self) -> None:
        """Check the numbers soon."""
        self._wakeup.set()

    async def run(self) -> None:
        """Look until cancelled, while there is something to see."""
        try:
            await self._take_over()
        except StoreError:
            # Without its table it still says what is wrong, in the log and in the metric.
            await self._look()
            raise
        while True:
            await self._wakeup.wait()
            self._wakeup = trio.Event()
            is_calm = await self._look()
            if self._is_restless or not is_calm:
                self._wakeup.set()
                await trio.sleep(self._settings.jobs.sample_every_s)

    async def _take_over(self) -> None:
        """Take up the alerts that the process before has left standing."""
        if self._alerts is None or self._has_taken_over:
            return
        while True:
            try:
                left = await self._alerts.load()
                break
            except StoreUnavailable:
                await trio.sleep(self._settings.jobs.sample_every_s)
        self._has_taken_over = True
        self.standing = {one.alert: one for one in left} | self.standing
        for alert in (one.alert for one in left):
            _log.warning("alert_still_raised", alert=alert.value)
        self._show()

    async def _look(self) -> bool:
        """Look once; True when there is no reason to look again soon."""
        limits = self._settings.alerts
        broken: StoreError | None = None
        try:
            jobs = await self._watch.look()
        except StoreError as error:
            jobs, broken = None, error
        now, now_s = self._clock.now(), trio.current_time()
        self._follow_clock()
        numbers = msgspec.structs.replace(
            Numbers() if jobs is None else jobs,
            duplicate_offers=self._duplicates.grown(now_s, limits.fault_window_s),
            commit_failures=self._failures.grown(now_s, limits.window_s),
            audit_violations=self._violations.grown(now_s, limits.fault_window_s),
            actor_restarts=self._restarts.grown(now_s, limits.window_s),
            loop_lag_s=0.0 if self._loop_lag_s is None else self._loop_lag_s(),
            lost_files=int(self._lost_files is not None and self._lost_files() is not None),
        )
        unread = set(_ABOUT_JOBS) if jobs is None else set()
        free_share = None if self._free_share is None else self._free_share()
        if free_share is None:
            unread.add(Alert.DISK)
        else:
            numbers = msgspec.structs.replace(numbers, disk_free_share=free_share)
        found = readings(numbers, limits.limits(self._settings.jobs))
        found = [one for one in found if one.alert not in unread]
        self.standing, changes = judge(self.standing, found, now, limits.clear_after_s)
        self._say(changes)
        await self._save()
        if broken is not None:
            raise broken
        if self.dead is not None and await self.dead.look(now) and self._enqueued is not None:
            self._enqueued()
        return jobs is not None and not (
            self.standing
            or (self.dead is not None and self.dead.standing)
            or self._unsaved
            or self._watch.is_busy
            or self._watch.remembers
            or self._duplicates.any
            or self._failures.any
            or self._violations.any
            or self._restarts.any
        )

    def _follow_clock(self) -> None:
        """How long a number has been within its limit stays the same when the clock is stepped."""
        by = self._clock.stepped_by - self._stepped_by
        if by:
            self._stepped_by += by
            self.standing = {
                alert: one
                if one.within_since is None
                else msgspec.structs.replace(one, within_since=one.within_since + by)
                for alert, one in self.standing.items()
            }

    def _say(self, changes: list[AlertChange]) -> None:
        for one in changes:
            if one.state is AlertState.RAISED:
                _log.error("alert_raised", alert=one.alert.value, value=one.value, limit=one.limit)
            else:
                _log.info("alert_cleared", alert=one.alert.value, value=one.value, limit=one.limit)
        self._show()
        if self._alerts is not None:
            self._unsaved.extend(changes)
        while len(self._unsaved) > MOST_UNSAVED:
            dropped = self._unsaved.popleft()
            _log.error("alert_not_told", alert=dropped.alert.value, state=dropped.state.value)

    def _show(self) -> None:
        for alert, gauge in self._gauges.items():
            gauge.set(alert in self.standing)

    async def _save(self) -> None:
        """Keep what has changed, and have it told; what cannot be kept now waits."""
        if self._alerts is None or not self._unsaved:
            return
        changes = list(self._unsaved)
        is_told = bool(self._settings.alerts.webhook_url)
        jobs = [news_of(change) for change in changes] if is_told else []
        try:
            await self._alerts.record(changes, jobs, self._clock.now())
        except StoreUnavailable as error:
            _log.warning("alerts_not_stored", count=len(changes), error=str(error))
            return
        self._unsaved.clear()
        if jobs and self._enqueued is not None:
            self._enqueued()


class _Recent:
    """How much a counter has grown in a window, as far as somebody looked."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self._last = read()
        self._growth: deque[tuple[float, int]] = deque(maxlen=10_000)

    @property
    def any(self) -> bool:
        """Whether it had grown in the window at the last look."""
        return bool(self._growth)

    def grown(self, now_s: float, window_s: float) -> int:
        """By how much it has grown in the window that ends now."""
        total = self._read()
        if total != self._last:
            self._growth.append((now_s, total - self._last))
            self._last = total
        while self._growth and self._growth[0][0] <= now_s - window_s:
            self._growth.popleft()
        return sum(growth for _, growth in self._growth)


def news_of(change: AlertChange) -> NewJob:
    """The job that tells the webhook of a change; its key makes it the only one."""
    payload = AlertNews(
        alert=change.alert.value,
        state=change.state.value,
        value=change.value,
        limit=change.limit,
        at=_moment(change.at),
        raised_at=_moment(change.raised_at),
    )
    return NewJob(
        WEBHOOK, payload.model_dump(exclude_none=True), change.at, key=change.key, priority=-10
    )


def news_of_dead(change: DeadLetterChange) -> NewJob:
    """The job that tells the webhook of dead letters; its key makes it the only one."""
    dead = change.dead
    payload = AlertNews(
        alert=Alert.DEAD_LETTER.value,
        state=change.state.value,
        value=dead.count,
        limit=0.0,
        at=_moment(change.at),
        raised_at=_moment(dead.raised_at),
        job_type=dead.job_type,
        error_kind=dead.kind,
        count=dead.count,
        job_id=dead.job_id,
    )
    fields = payload.model_dump(exclude_none=True)
    return NewJob(WEBHOOK, fields, change.at, key=change.key, priority=-10)


def free_share_of(directory: Path) -> float | None:
    """The share of a directory's disk that is free for us; None when it does not say."""
    try:
        usage = shutil.disk_usage(directory)
    except OSError:
        return None
    return usage.free / usage.total if usage.total else None


def _moment(at: Instant) -> str:
    return to_datetime(at).isoformat().replace("+00:00", "Z")
