"""Metrics of the process: the clock, the event loop, actors, alerts."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from yoked_actor.domain.ops import Alert
from yoked_actor.telemetry.metrics.common import LATENCIES_S


def alert_gauges(registry: CollectorRegistry) -> dict[Alert, Gauge]:
    """A gauge for each alert: 1 while it is raised."""
    alert = Gauge("yoked_alert", "Whether an alert is raised", ["alert"], registry=registry)
    return {one: alert.labels(one.value) for one in Alert}


class ActorMetrics:
    """Counts failures of actors, and measures the lag of the event loop that they share."""

    def __init__(self, registry: CollectorRegistry) -> None:
        r = registry
        self._restarts = Counter(
            "yoked_actor_restarts",
            "Failures of actors beside the live loop; each is started again",
            ["actor"],
            registry=r,
        )
        self.restarts = 0
        """The failures of all actors, for alerts."""
        self.loop_lag = Histogram(
            "yoked_loop_lag_seconds",
            "How much later than due the event loop came back to a task",
            buckets=LATENCIES_S,
            registry=r,
        )

    def expect(self, actor: str) -> None:
        """Create the counter of an actor, at zero."""
        self._restarts.labels(actor)

    def count_restart(self, actor: str) -> None:
        """Count a failure of an actor, which is restarted."""
        self._restarts.labels(actor).inc()
        self.restarts += 1


class ClockMetrics:
    """Counts steps of the system's clock."""

    def __init__(self, registry: CollectorRegistry) -> None:
        steps = Counter(
            "yoked_clock_steps",
            "Steps of the system's clock, by direction",
            ["direction"],
            registry=registry,
        )
        self._forward, self._back = steps.labels("forward"), steps.labels("back")
        self._last = Gauge(
            "yoked_clock_last_step_seconds",
            "Size of the last step of the system's clock; negative when it was set back",
            registry=registry,
        )

    def count(self, seconds: float) -> None:
        """Count a step."""
        (self._forward if seconds > 0 else self._back).inc()
        self._last.set(seconds)
