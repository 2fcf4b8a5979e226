"""The metrics as text, in parts: with many rooms the whole text would block the event loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_MOST_SAMPLES = 200
"""How many samples are in a part: they take about 2 ms."""
_HEAD_LINES = 2
"""`# HELP` and `# TYPE`."""


def text_parts(registry: CollectorRegistry) -> Iterator[bytes]:
    """The text format of Prometheus. Each part is made when it is asked for."""
    for family in registry.collect():
        for start in range(0, len(family.samples) or 1, _MOST_SAMPLES):
            part = Metric(family.name, family.documentation, family.type, family.unit)
            part.samples = family.samples[start : start + _MOST_SAMPLES]
            text = generate_latest(_Part(part))
            yield text if start == 0 else text.split(b"\n", _HEAD_LINES)[_HEAD_LINES]


class _Part(Collector):
    """Collects one family, or a part of it."""

    def __init__(self, metric: Metric) -> None:
        self._metric = metric

    def collect(self) -> Iterable[Metric]:
        return (self._metric,)
