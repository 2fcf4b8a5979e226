"""Metrics of the rooms in use, by room: there are at most 1,000."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class RoomNumbers(msgspec.Struct, frozen=True):
    """The numbers of a room at one moment."""

    users: int
    """Users in the room."""
    waiting: int
    """Those who can be paired now."""
    messages: int
    """Messages to its matchmaker that are not decided yet."""


class RoomMetrics(Collector):
    """Reads the rooms when the metrics are read."""

    def __init__(self, read: Callable[[], Mapping[str, RoomNumbers]]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        """The gauges of the rooms in use."""
        users = GaugeMetricFamily("yoked_room_users", "Users in a room", labels=["room"])
        waiting = GaugeMetricFamily(
            "yoked_waiting_users", "Users who can be paired now", labels=["room"]
        )
        mailbox = GaugeMetricFamily(
            "yoked_mailbox_messages", "Messages not yet decided", labels=["room"]
        )
        for room, numbers in self._read().items():
            users.add_metric([room], numbers.users)
            waiting.add_metric([room], numbers.waiting)
            mailbox.add_metric([room], numbers.messages)
        return (users, waiting, mailbox)
