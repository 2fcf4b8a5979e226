"""Alerts about dead letters: one for each job type and kind of error (R33).

The first dead letter raises an alert. Later ones within the window are counted, and the count is
reported when the alert is cleared. All of it is in the store: dead letters of other processes count
too, and a restart neither forgets nor repeats an alert. While the store is unavailable, changes
wait.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog
from prometheus_client import Gauge

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.ops import Alert, AlertState, DeadLetterChange, DeadLetters
from yoked_actor.domain.time import Instant
from yoked_actor.settings import AlertSettings
from yoked_actor.store import Alerts, StoreUnavailable

_log = structlog.get_logger()


class DeadLetterAlarm:
    """Checks for dead letters, and reports what has changed."""

    def __init__(
        self,
        alerts: Alerts,
        settings: AlertSettings,
        gauge: Gauge,
        job_for: Callable[[DeadLetterChange], NewJob],
        own_type: str,
    ) -> None:
        """`job_for` makes the job that notifies the webhook. Dead letters of `own_type`, the type
        of that job, make no such job: the webhook has failed."""
        self._alerts = alerts
        self._settings = settings
        self._gauge = gauge
        self._job_for = job_for
        self._own_type = own_type
        self.standing: list[DeadLetters] = []
        """The alerts that are raised, the oldest first."""

    async def check(self, now: Instant) -> bool:
        """Check once; returns whether a job was enqueued."""
        window_s = self._settings.dead_letter_window_s
        try:
            self.standing, is_news = await self._alerts.dead_letters()
            is_over = any(one.is_over(now, window_s) for one in self.standing)
            if not (is_news or is_over):
                return False
            changes = await self._alerts.take_dead_letters(now, window_s, self._job)
            self.standing, _ = await self._alerts.dead_letters()
        except StoreUnavailable as error:
            _log.warning("dead_letters_not_read", error=str(error))
            return False
        finally:
            self._gauge.set(bool(self.standing))
        for change in changes:
            _report(change)
        return any(self._job(change) is not None for change in changes)

    def _job(self, change: DeadLetterChange) -> NewJob | None:
        if not self._settings.webhook_url or change.dead.job_type == self._own_type:
            return None
        return self._job_for(change)


def _report(change: DeadLetterChange) -> None:
    is_raised = change.state is AlertState.RAISED
    (_log.error if is_raised else _log.info)(
        "alert_raised" if is_raised else "alert_cleared",
        alert=Alert.DEAD_LETTER.value,
        type=change.dead.job_type,
        error_kind=change.dead.kind,
        count=change.dead.count,
        job_id=change.dead.job_id,
    )
