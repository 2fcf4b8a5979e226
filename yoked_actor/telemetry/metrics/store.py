"""Metrics of the store: its commits."""

from __future__ import annotations

from collections import deque

from prometheus_client import CollectorRegistry, Histogram

from yoked_actor.telemetry.metrics.common import LATENCIES_S, SIZES

_KEPT_COMMITS = 256


class StoreMetrics:
    """Counts and measures commits."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.commits = Histogram(
            "yoked_commit_seconds", "Time of one commit", buckets=LATENCIES_S, registry=r
        )
        self.commit_size = Histogram(
            "yoked_commit_writes", "Writes that shared one commit", buckets=SIZES, registry=r
        )
        self.last_commits_s: deque[float] = deque(maxlen=_KEPT_COMMITS)
        """How long the last commits took, for the operator's console."""

    def count_commit(self, seconds: float, writes: int) -> None:
        """Count a commit, and how many writes it stored."""
        self.commits.observe(seconds)
        self.commit_size.observe(writes)
        self.last_commits_s.append(seconds)
