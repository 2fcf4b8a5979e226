"""The real server on a mock clock, with its disk, its lines and its clock under control."""

from __future__ import annotations

from yoked_actor.simulation.stage.pipes import Line
from yoked_actor.simulation.stage.stage import Stage

__all__ = ["Line", "Stage"]
