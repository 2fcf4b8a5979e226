"""Simulated evenings of the lobby alone: guests, the real matchmaker, a mock clock, checkers.

The lobby, the matchmaker, the store and its SQL are the real ones. Only the guests are simulated,
and talk to the matchmaker without sockets. So thousands of guests are cheap.
"""

from __future__ import annotations

from yoked_actor.simulation.evening.evening import Evening, simulate
from yoked_actor.simulation.evening.report import Report

__all__ = ["Evening", "Report", "simulate"]
