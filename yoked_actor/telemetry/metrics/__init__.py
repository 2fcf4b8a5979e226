"""The metrics of the server, one module per feature."""

from __future__ import annotations

from yoked_actor.telemetry.metrics.common import count_of
from yoked_actor.telemetry.metrics.jobs import JobMetrics
from yoked_actor.telemetry.metrics.lobby import LobbyCounts
from yoked_actor.telemetry.metrics.offers import CalendarMetrics
from yoked_actor.telemetry.metrics.registry import CONTENT_TYPE, Metrics
from yoked_actor.telemetry.metrics.rooms import RoomNumbers

__all__ = [
    "CONTENT_TYPE",
    "CalendarMetrics",
    "JobMetrics",
    "LobbyCounts",
    "Metrics",
    "RoomNumbers",
    "count_of",
]
