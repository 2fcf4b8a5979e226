"""Metrics of daily offers: zone runs, sets, deliveries, answers."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram

_LATE_S = (0.01, 0.1, 1.0, 10.0, 60.0, 600.0, 3600.0, 6 * 3600.0)


class SetMetrics:
    """Counts the sets of offers that jobs make."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self.duplicate_offers = Counter(
            "yoked_duplicate_offers", "Second sets of offers for a user and date", registry=r
        )
        sets = Counter(
            "yoked_offer_sets",
            "Sets of offers: stored, or left out because the user had one already",
            ["result"],
            registry=r,
        )
        self._sets_stored = sets.labels("stored")
        self._sets_left_out = sets.labels("left_out")
        self._offers = Counter("yoked_offers", "Offers in the sets that were stored", registry=r)

    def count_sets(self, offers: Sequence[int | None]) -> None:
        """Count sets that were stored with so many offers, or with None those that were not."""
        stored = [count for count in offers if count is not None]
        self._sets_left_out.inc(len(offers) - len(stored))
        self._sets_stored.inc(len(stored))
        self._offers.inc(sum(stored))


class CalendarMetrics:
    """Counts the daily runs of zones."""

    def __init__(self, registry: CollectorRegistry) -> None:
        runs = Counter(
            "yoked_zone_runs",
            "Daily runs of zones, by what became of them: started or missed",
            ["status"],
            registry=registry,
        )
        self.started = runs.labels("started")
        self.missed = runs.labels("missed")
        self.late = Histogram(
            "yoked_zone_run_late_seconds",
            "How long after its time a zone's run was started",
            buckets=_LATE_S,
            registry=registry,
        )


class DeskMetrics:
    """Counts deliveries and answers of offers."""

    def __init__(self, registry: CollectorRegistry) -> None:
        delivered = Counter(
            "yoked_offer_sets_delivered",
            "Sets of daily offers that users got, by how: pushed or fetched",
            ["how"],
            registry=registry,
        )
        self.pushed = delivered.labels("pushed")
        self.fetched = delivered.labels("fetched")
        answers = Counter("yoked_offer_answers", "Offers answered", ["answer"], registry=registry)
        self.answers = {name: answers.labels(name) for name in ("accept", "decline")}
        self.connections = Counter(
            "yoked_mutual_accepts", "Pairs of users who accepted each other", registry=registry
        )
