"""Simulated evenings: seeded guests, the real matchmaker, a mock clock, checkers and a report.

The lobby, the matchmaker, the store and its SQL are the real ones. Only the guests are simulated,
and talk to the matchmaker without sockets.
"""

from __future__ import annotations

from yoked_actor.simulation.evening import Evening, simulate
from yoked_actor.simulation.report import Report

__all__ = ["Evening", "Report", "simulate"]
