"""Metrics of the rooms in use, by room: there are at most 1,000."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

RoomCounts = Mapping[str, tuple[int, int]]
"""How many users are in each room, and how many of them can be paired."""


class RoomMetrics(Collector):
    """Reads the rooms when the metrics are read."""

    def __init__(self, read: Callable[[], RoomCounts]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """The gauges of the rooms in use."""
        users = GaugeMetricFamily("yoked_room_users", "Users in a room", labels=["room"])
        waiting = GaugeMetricFamily(
            "yoked_room_waiting", "Users of a room who can be paired now", labels=["room"]
        )
        for room, (here, in_line) in self._read().items():
            users.add_metric([room], here)
            waiting.add_metric([room], in_line)
        return (users, waiting)
