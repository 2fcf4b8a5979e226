"""The report of a run as one page."""

from __future__ import annotations

from yoked_actor.simulation.run import Result


def page_of(result: Result) -> str:
    """One HTML file."""
    return result.digest
