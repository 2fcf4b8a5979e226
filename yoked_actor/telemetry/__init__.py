"""Logs, metrics, error reports."""

from __future__ import annotations

from yoked_actor.telemetry.error_reports import CannotReport, report_errors
from yoked_actor.telemetry.log import InfoLine, configure_logging, write_lines
from yoked_actor.telemetry.metrics import (
    CONTENT_TYPE,
    CalendarMetrics,
    JobMetrics,
    LobbyCounts,
    Metrics,
    RoomNumbers,
    count_of,
)
from yoked_actor.telemetry.metrics.objectives import Objectives

__all__ = [
    "CONTENT_TYPE",
    "CalendarMetrics",
    "CannotReport",
    "InfoLine",
    "JobMetrics",
    "LobbyCounts",
    "Metrics",
    "Objectives",
    "RoomNumbers",
    "configure_logging",
    "count_of",
    "report_errors",
    "write_lines",
]
