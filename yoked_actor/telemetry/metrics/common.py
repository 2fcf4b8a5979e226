"""What the metrics of several features share."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

LATENCIES_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000)


def count_of(metric: Counter | Gauge) -> int:
    """The value of a metric that has no labels, or has been given its labels."""
    [family] = metric.collect()
    return int(family.samples[0].value)
