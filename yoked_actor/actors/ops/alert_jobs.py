"""The jobs that notify the webhook of alerts."""

from __future__ import annotations

from pydantic import BaseModel

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.ops import Alert, AlertChange, DeadLetterChange
from yoked_actor.domain.time import Instant, to_datetime

WEBHOOK = "alerts.webhook"
_PRIORITY = -10


class AlertNotification(BaseModel):
    """What a receiver gets of a change. Instants are ISO 8601, in UTC."""

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


def alert_job(change: AlertChange) -> NewJob:
    """The job that notifies the webhook of a change; its key makes it the only one."""
    return _job(
        change,
        AlertNotification(
            alert=change.alert.value,
            state=change.state.value,
            value=change.value,
            limit=change.limit,
            at=_text(change.at),
            raised_at=_text(change.raised_at),
        ),
    )


def dead_letter_job(change: DeadLetterChange) -> NewJob:
    """The job that notifies the webhook of dead letters; its key makes it the only one."""
    dead = change.dead
    return _job(
        change,
        AlertNotification(
            alert=Alert.DEAD_LETTER.value,
            state=change.state.value,
            value=dead.count,
            limit=0.0,
            at=_text(change.at),
            raised_at=_text(dead.raised_at),
            job_type=dead.job_type,
            error_kind=dead.kind,
            count=dead.count,
            job_id=dead.job_id,
        ),
    )


def _job(change: AlertChange | DeadLetterChange, payload: AlertNotification) -> NewJob:
    fields = payload.model_dump(exclude_none=True)
    return NewJob(WEBHOOK, fields, change.at, key=change.key, priority=_PRIORITY)


def _text(at: Instant) -> str:
    return to_datetime(at).isoformat().replace("+00:00", "Z")
