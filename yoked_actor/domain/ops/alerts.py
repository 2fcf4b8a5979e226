"""When somebody has to look: nine numbers, their limits, and when an alert is over (R45).

Dead letters are no number: each type of job and kind of error has an alert of its own, raised by
the first and over after a while, whatever comes meanwhile.

An alert is raised by the first look that finds its number past the limit. It is over when every
look for a while has found the number within the limit again: a number that sways around its limit
makes one alert and not many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b

import msgspec

from yoked_actor.domain.time import Instant, after


class Alert(StrEnum):
    """What is wrong."""

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
    """What is still well; past it is not."""

    failure_rate: float = 0.01
    duration_p95_s: float = 300.0
    depth: int = 1000
    duplicate_offers: int = 0
    loop_lag_s: float = 0.25
    commit_failures: int = 5
    audit_violations: int = 0
    actor_restarts: int = 0
    disk_free_share: float = 0.05
    """The least, where the others are the most."""
    lost_files: int = 0


class Numbers(msgspec.Struct, frozen=True):
    """What was counted in a while, and what is so now."""

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
    """1 when a file of the database was deleted or replaced while it was open."""

    @property
    def failure_rate(self) -> float:
        """The share of ended jobs that are dead letters."""
        ended = self.completed + self.dead
        return self.dead / ended if ended else 0.0

    @property
    def retry_rate(self) -> float:
        """The share of ended runs that are tried again."""
        ended = self.completed + self.dead + self.retried
        return self.retried / ended if ended else 0.0


class Reading(msgspec.Struct, frozen=True):
    """One number, the limit it is held against, and whether it is past that."""

    alert: Alert
    value: float
    limit: float
    is_past: bool


def readings(numbers: Numbers, limits: Limits) -> list[Reading]:
    """Every number held against its limit, in the order of `Alert`; not dead letters."""
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
    """An alert that is raised and not yet over."""

    alert: Alert
    value: float
    """As last seen."""
    limit: float
    raised_at: Instant
    within_since: Instant | None = None
    """Since when every look has found the number within its limit."""


class AlertState(StrEnum):
    """What has become of an alert."""

    RAISED = "raised"
    CLEARED = "cleared"


class AlertChange(msgspec.Struct, frozen=True):
    """An alert was raised, or is over. With `raised_at` it names one time that it stood."""

    alert: Alert
    state: AlertState
    value: float
    limit: float
    at: Instant
    raised_at: Instant

    @property
    def key(self) -> str:
        """What names this change and no other."""
        return f"{self.alert}:{self.raised_at}:{self.state}"


class DeadLetters(msgspec.Struct, frozen=True):
    """Jobs of one type that became dead letters by errors of one kind, since the first."""

    job_type: str
    kind: str
    count: int
    job_id: int
    """The first."""
    raised_at: Instant

    def is_over(self, now: Instant, window_s: float) -> bool:
        """Whether the window has ended. One that begins far in the future is of a wrong clock."""
        return not after(self.raised_at, -window_s) <= now < after(self.raised_at, window_s)


class DeadLetterChange(msgspec.Struct, frozen=True):
    """An alert about dead letters was raised, or is over; then it has the count of all of them."""

    dead: DeadLetters
    state: AlertState
    at: Instant

    @property
    def key(self) -> str:
        """What names this change and no other, however long the name of the type is."""
        digest = blake2b(self.dead.job_type.encode(), digest_size=8).hexdigest()
        dead = self.dead
        return f"{Alert.DEAD_LETTER}:{digest}:{dead.kind}:{dead.raised_at}:{self.state}"


def judge(
    standing: Mapping[Alert, RaisedAlert],
    found: Sequence[Reading],
    now: Instant,
    clear_after_s: float,
) -> tuple[dict[Alert, RaisedAlert], list[AlertChange]]:
    """What stands after a look, and what has changed by it, in the order of what was found.

    An alert that was not looked at (its number could not be read) stays as it is.
    """
    after_look = dict(standing)
    changes: list[AlertChange] = []
    for one in found:
        before = standing.get(one.alert)
        if one.is_past:
            raised_at = now if before is None else before.raised_at
            after_look[one.alert] = RaisedAlert(one.alert, one.value, one.limit, raised_at)
            if before is None:
                changes.append(_change(one, AlertState.RAISED, now, now))
        elif before is not None:
            since = now if before.within_since is None else before.within_since
            if after(since, clear_after_s) <= now:
                del after_look[one.alert]
                changes.append(_change(one, AlertState.CLEARED, now, before.raised_at))
            else:
                after_look[one.alert] = RaisedAlert(
                    one.alert, one.value, one.limit, before.raised_at, since
                )
    return after_look, changes


def _change(one: Reading, state: AlertState, at: Instant, raised_at: Instant) -> AlertChange:
    return AlertChange(one.alert, state, one.value, one.limit, at, raised_at)
