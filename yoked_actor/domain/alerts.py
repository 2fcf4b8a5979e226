"""When somebody has to look: four numbers about jobs and offers, and their limits (R45)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import ceil

import msgspec


class Alert(StrEnum):
    """What is wrong."""

    FAILURE_RATE = "job_failure_rate"
    DURATION = "job_duration_p95"
    DEPTH = "job_queue_depth"
    DUPLICATES = "duplicate_offers"


class Limits(msgspec.Struct, frozen=True):
    """What is still well; above it is not."""

    failure_rate: float = 0.01
    duration_p95_s: float = 300.0
    depth: int = 1000
    duplicate_offers: int = 0


class Numbers(msgspec.Struct, frozen=True):
    """What was counted: jobs that ended in a while, how long they ran, what waits now."""

    completed: int = 0
    dead: int = 0
    duration_p95_s: float = 0.0
    depth: int = 0
    duplicate_offers: int = 0

    @property
    def failure_rate(self) -> float:
        """The share of ended jobs that are dead letters."""
        ended = self.completed + self.dead
        return self.dead / ended if ended else 0.0


class Raised(msgspec.Struct, frozen=True):
    """An alert, and the number that raised it."""

    alert: Alert
    value: float
    limit: float


def alerts(numbers: Numbers, limits: Limits) -> list[Raised]:
    """The alerts that these numbers raise, in the order of `Alert`."""
    measured: Iterable[tuple[Alert, float, float]] = (
        (Alert.FAILURE_RATE, numbers.failure_rate, limits.failure_rate),
        (Alert.DURATION, numbers.duration_p95_s, limits.duration_p95_s),
        (Alert.DEPTH, numbers.depth, limits.depth),
        (Alert.DUPLICATES, numbers.duplicate_offers, limits.duplicate_offers),
    )
    return [Raised(alert, value, limit) for alert, value, limit in measured if value > limit]


def percentile(values: Sequence[float], share: float) -> float:
    """What that share of the values stays at or below (nearest rank); 0 of none."""
    if not values:
        return 0.0
    return sorted(values)[max(ceil(share * len(values)), 1) - 1]
