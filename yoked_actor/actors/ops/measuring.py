"""The numbers that alerts are judged by, apart from those about jobs."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from yoked_actor.domain.ops import Alert, Numbers
from yoked_actor.settings import AlertSettings
from yoked_actor.telemetry import Metrics, count_of

_ABOUT_JOBS = frozenset({Alert.FAILURE_RATE, Alert.DURATION, Alert.DEPTH})


class Measurements:
    """Reads counters, the loop lag and the disk."""

    def __init__(
        self,
        metrics: Metrics,
        limits: AlertSettings,
        *,
        loop_lag_s: Callable[[], float] | None,
        free_share: Callable[[], float | None] | None,
        lost_files: Callable[[], str | None] | None,
    ) -> None:
        self._limits = limits
        self._loop_lag_s = loop_lag_s
        self._free_share = free_share
        self._lost_files = lost_files
        self._duplicates = _Growth(lambda: count_of(metrics.sets.duplicate_offers))
        self._failures = _Growth(lambda: metrics.lobby.failed_commits)
        self._violations = _Growth(lambda: metrics.lobby.violations)
        self._restarts = _Growth(lambda: metrics.actors.restarts)

    @property
    def has_grown(self) -> bool:
        """Whether a counter had grown in its window when it was last read."""
        counters = (self._duplicates, self._failures, self._violations, self._restarts)
        return any(one.any for one in counters)

    def read(self, jobs: Numbers | None, now_s: float) -> tuple[Numbers, set[Alert]]:
        """All numbers, and the alerts whose numbers cannot be read. `jobs` None: not read."""
        limits = self._limits
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
        return numbers, unread


class _Growth:
    """How much a counter has grown in a window, as of when it was read."""

    def __init__(self, read: Callable[[], int]) -> None:
        self._read = read
        self._last = read()
        self._growth: deque[tuple[float, int]] = deque(maxlen=10_000)

    @property
    def any(self) -> bool:
        """Whether it had grown in the window when it was last read."""
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


def free_share_of(directory: Path) -> float | None:
    """The free share of a directory's disk; None when it cannot be read."""
    try:
        usage = shutil.disk_usage(directory)
    except OSError:
        return None
    return usage.free / usage.total if usage.total else None
