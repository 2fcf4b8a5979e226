"""Alerts about dead letters: one for each type of job and kind of error, for a while (R33).

The first dead letter raises it, at once. Those that follow within the window are counted, and the
count is told when the alert is over. All of it is in the store: the dead letters of another process
count too, and a restart neither forgets nor repeats one. While the store is away the news wait.
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
    """Looks for dead letters, and says what has changed."""

    def __init__(
        self,
        alerts: Alerts,
        settings: AlertSettings,
        gauge: Gauge,
        news_of: Callable[[DeadLetterChange], NewJob],
        own_type: str,
    ) -> None:
        """`news_of` makes the job that tells of a change; dead letters of `own_type`, which is
        that job's, are not told, because they are those that could not be told."""
        self._alerts = alerts
        self._settings = settings
        self._gauge = gauge
        self._news_of = news_of
        self._own_type = own_type
        self.standing: list[DeadLetters] = []
        """The alerts that stand, the oldest first."""

    async def look(self, now: Instant) -> bool:
        """Look once; whether somebody is to be told of a change."""
        window_s = self._settings.dead_letter_window_s
        try:
            self.standing, is_news = await self._alerts.dead_letters()
            is_over = any(one.is_over(now, window_s) for one in self.standing)
            if not (is_news or is_over):
                return False
            changes = await self._alerts.take_dead_letters(now, window_s, self._tell)
            self.standing, _ = await self._alerts.dead_letters()
        except StoreUnavailable as error:
            _log.warning("dead_letters_not_read", error=str(error))
            return False
        finally:
            self._gauge.set(bool(self.standing))
        for change in changes:
            _say(change)
        return any(self._tell(change) is not None for change in changes)

    def _tell(self, change: DeadLetterChange) -> NewJob | None:
        if not self._settings.webhook_url or change.dead.job_type == self._own_type:
            return None
        return self._news_of(change)


def _say(change: DeadLetterChange) -> None:
    is_raised = change.state is AlertState.RAISED
    (_log.error if is_raised else _log.info)(
        "alert_raised" if is_raised else "alert_cleared",
        alert=Alert.DEAD_LETTER.value,
        type=change.dead.job_type,
        error_kind=change.dead.kind,
        count=change.dead.count,
        job_id=change.dead.job_id,
    )
