"""Alerts: values, their limits, and when an alert is raised and cleared (R45).

An alert is raised by the first check that finds its value past the limit. It is cleared when every
check for some time has found the value within the limit: a value that oscillates around its limit
makes one alert, not many.

Dead letters are not a value: each type of job and kind of error has its own alert, raised by the
first dead letter and cleared after a fixed time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b

import msgspec

from yoked_actor.domain.time import Instant, after


class Alert(StrEnum):
    """The kinds of alerts."""

    FAILURE_RATE = "job_failure_rate"
    DURATION = "job_duration_p95"
    DEPTH = "job_queue_depth"
    DUPLICATES = "duplicate_offers"
    LOOP_LAG = "event_loop_lag"
    COMMIT_FAILURES = "commit_failures"
    AUDIT_VIOLATIONS = "audit_violations"
    ACTOR_RESTARTS = "actor_restarts"
    DATABASE_LOST = "database_lost"
    DISK = "disk_nearly_full"
    DEAD_LETTER = "dead_letter"


class Limits(msgspec.Struct, frozen=True):
    """The limits beyond which an alert is raised."""

    failure_rate: float = 0.01
    duration_p95_s: float = 300.0
    depth: int = 1000
    duplicate_offers: int = 0
    loop_lag_s: float = 0.25
    commit_failures: int = 5
    audit_violations: int = 0
    actor_restarts: int = 0
    disk_free_share: float = 0.05
    """A minimum; the others are maxima."""
    lost_files: int = 0


class Numbers(msgspec.Struct, frozen=True):
    """The values that are checked: counts over a window, and present values."""

    completed: int = 0
    dead: int = 0
    duration_p95_s: float = 0.0
    depth: int = 0
    duplicate_offers: int = 0
    loop_lag_s: float = 0.0
    commit_failures: int = 0
    audit_violations: int = 0
    actor_restarts: int = 0
    disk_free_share: float = 1.0
    retried: int = 0
    lost_files: int = 0
    """1 if a file of the database was deleted or replaced while it was open."""

    @property
    def failure_rate(self) -> float:
        """The share of ended jobs that are dead letters."""
        ended = self.completed + self.dead
        return self.dead / ended if ended else 0.0

    @property
    def retry_rate(self) -> float:
        """The share of ended runs that are retried."""
        ended = self.completed + self.dead + self.retried
        return self.retried / ended if ended else 0.0


class Reading(msgspec.Struct, frozen=True):
    """A value, its limit, and whether it is past the limit."""

    alert: Alert
    value: float
    limit: float
    is_past: bool


def readings(numbers: Numbers, limits: Limits) -> list[Reading]:
    """Every value compared with its limit, in the order of `Alert`; without dead letters."""
    most: Iterable[tuple[Alert, float, float]] = (
        (Alert.FAILURE_RATE, numbers.failure_rate, limits.failure_rate),
        (Alert.DURATION, numbers.duration_p95_s, limits.duration_p95_s),
        (Alert.DEPTH, numbers.depth, limits.depth),
        (Alert.DUPLICATES, numbers.duplicate_offers, limits.duplicate_offers),
        (Alert.LOOP_LAG, numbers.loop_lag_s, limits.loop_lag_s),
        (Alert.COMMIT_FAILURES, numbers.commit_failures, limits.commit_failures),
        (Alert.AUDIT_VIOLATIONS, numbers.audit_violations, limits.audit_violations),
        (Alert.ACTOR_RESTARTS, numbers.actor_restarts, limits.actor_restarts),
        (Alert.DATABASE_LOST, numbers.lost_files, limits.lost_files),
    )
    found = [Reading(alert, value, limit, value > limit) for alert, value, limit in most]
    free, least = numbers.disk_free_share, limits.disk_free_share
    return [*found, Reading(Alert.DISK, free, least, free < least)]


class RaisedAlert(msgspec.Struct, frozen=True):
    """An alert that is raised and not cleared."""

    alert: Alert
    value: float
    """At the last check."""
    limit: float
    raised_at: Instant
    within_since: Instant | None = None
    """Since when every check has found the value within its limit."""


class AlertState(StrEnum):
    """The state of an alert."""

    RAISED = "raised"
    CLEARED = "cleared"


class AlertChange(msgspec.Struct, frozen=True):
    """An alert was raised or cleared. `raised_at` identifies the occurrence."""

    alert: Alert
    state: AlertState
    value: float
    limit: float
    at: Instant
    raised_at: Instant

    @property
    def key(self) -> str:
        """A unique key of this change."""
        return f"{self.alert}:{self.raised_at}:{self.state}"


class DeadLetters(msgspec.Struct, frozen=True):
    """The dead letters of one job type and kind of error, since the first one."""

    job_type: str
    kind: str
    count: int
    job_id: int
    """The first one."""
    raised_at: Instant

    def is_over(self, now: Instant, window_s: float) -> bool:
        """Whether the window has ended. One far in the future was set by a wrong clock."""
        return not after(self.raised_at, -window_s) <= now < after(self.raised_at, window_s)


class DeadLetterChange(msgspec.Struct, frozen=True):
    """An alert about dead letters was raised, or cleared with the final count."""

    dead: DeadLetters
    state: AlertState
    at: Instant

    @property
    def key(self) -> str:
        """A unique key of this change, of limited length."""
        digest = blake2b(self.dead.job_type.encode(), digest_size=8).hexdigest()
        dead = self.dead
        return f"{Alert.DEAD_LETTER}:{digest}:{dead.kind}:{dead.raised_at}:{self.state}"


def judge(
    standing: Mapping[Alert, RaisedAlert],
    found: Sequence[Reading],
    now: Instant,
    clear_after_s: float,
) -> tuple[dict[Alert, RaisedAlert], list[AlertChange]]:
    """The raised alerts after a check, and the changes, in the order of the readings.

    An alert without a reading (its value could not be read) stays as it is.
    """
    raised = dict(standing)
    changes: list[AlertChange] = []
    for one in found:
        before = standing.get(one.alert)
        if one.is_past:
            raised_at = now if before is None else before.raised_at
            raised[one.alert] = RaisedAlert(one.alert, one.value, one.limit, raised_at)
            if before is None:
                changes.append(_change(one, AlertState.RAISED, now, now))
        elif before is not None:
            since = now if before.within_since is None else before.within_since
            if after(since, clear_after_s) <= now:
                del raised[one.alert]
                changes.append(_change(one, AlertState.CLEARED, now, before.raised_at))
            else:
                raised[one.alert] = RaisedAlert(
                    one.alert, one.value, one.limit, before.raised_at, since
                )
    return raised, changes


def _change(one: Reading, state: AlertState, at: Instant, raised_at: Instant) -> AlertChange:
    return AlertChange(one.alert, state, one.value, one.limit, at, raised_at)
