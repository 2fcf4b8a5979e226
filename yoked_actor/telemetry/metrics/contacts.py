"""Metrics of what follows a date: answers to "stay in touch?"."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter


class ContactMetrics:
    """Counts answers after dates."""

    def __init__(self, registry: CollectorRegistry) -> None:
        answers = Counter(
            "yoked_touch_answers", "Answers after dates, by answer", ["answer"], registry=registry
        )
        self.answers = {name: answers.labels(name) for name in ("yes", "no")}
        self.connections = Counter(
            "yoked_touch_connections", "Pairs of users who stay in touch", registry=registry
        )
