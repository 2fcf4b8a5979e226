"""Simulated evenings: a seeded crowd on the real matchmaker, a mock clock, checkers and a report.

Nothing that decides is simulated: the lobby, the matchmaker, the store and its SQL are the real
ones. Only the people are made up, and they talk to the matchmaker without sockets in between.
"""

from __future__ import annotations

from yoked_actor.simulation.evening import Evening, simulate
from yoked_actor.simulation.report import Report

__all__ = ["Evening", "Report", "simulate"]
