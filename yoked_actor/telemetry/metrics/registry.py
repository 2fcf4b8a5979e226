"""All metrics of a server, by feature, and the registry that they share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
)

from yoked_actor import __version__
from yoked_actor.telemetry.metrics.connections import ConnectionMetrics
from yoked_actor.telemetry.metrics.contacts import ContactMetrics
from yoked_actor.telemetry.metrics.jobs import JobMetrics
from yoked_actor.telemetry.metrics.lobby import LobbyMetrics
from yoked_actor.telemetry.metrics.nodes import NodeMetrics
from yoked_actor.telemetry.metrics.objectives import Objectives
from yoked_actor.telemetry.metrics.offers import CalendarMetrics, DeskMetrics, SetMetrics
from yoked_actor.telemetry.metrics.ops import ActorMetrics, ClockMetrics, alert_gauges
from yoked_actor.telemetry.metrics.rooms import RoomMetrics, RoomNumbers
from yoked_actor.telemetry.metrics.store import StoreMetrics
from yoked_actor.telemetry.metrics.text import text_parts

# A series `_created` for each counter and histogram would double their number, and says little.
disable_created_metrics()  # type: ignore[no-untyped-call]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The metrics of one server. Each server has its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        r = self.registry
        ProcessCollector(registry=r)
        build = Gauge("yoked_build_info", "1, labelled by the version", ["version"], registry=r)
        build.labels(__version__).set(1)
        self.objectives = Objectives(r)
        self.lobby = LobbyMetrics(r, self.objectives)
        self.store = StoreMetrics(r)
        self.actors = ActorMetrics(r)
        self.connections = ConnectionMetrics(r)
        self.jobs = JobMetrics(r)
        self.sets = SetMetrics(r)
        self.calendar = CalendarMetrics(r)
        self.desk = DeskMetrics(r)
        self.contacts = ContactMetrics(r)
        self.clock = ClockMetrics(r)
        self.nodes = NodeMetrics(r)
        self.alerts = alert_gauges(r)

    def watch(
        self,
        *,
        sessions: Callable[[], float],
        writes: Callable[[], float],
        ready: Callable[[], float],
        rooms: Callable[[], Mapping[str, RoomNumbers]],
    ) -> None:
        """Add the gauges whose values are read when the metrics are."""
        for name, text, read in (
            ("yoked_sessions", "Users in memory", sessions),
            ("yoked_pending_writes", "Writes that wait for their commit", writes),
            ("yoked_ready", "Whether clients are taken and decisions stored", ready),
        ):
            Gauge(name, text, registry=self.registry).set_function(read)
        self.registry.register(RoomMetrics(rooms))

    def expose(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
        return b"".join(self.expose_parts())

    def expose_parts(self) -> Iterator[bytes]:
        """The same in parts, so that a caller can let other tasks run between them."""
        return text_parts(self.registry)
