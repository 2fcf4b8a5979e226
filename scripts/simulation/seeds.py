"""The fixed seeds: those of the test command, within which planted faults have to be caught."""

from __future__ import annotations

from yoked_actor.simulation.plan import ALL_FAULTS, Wish

SEEDS = (
    Wish(seed=3, people=30, days=3),
    Wish(seed=2, people=24, days=4, faults=ALL_FAULTS),
    Wish(seed=4, people=30, days=3, faults=ALL_FAULTS),
)
"""A calm run, and runs with everything that goes wrong."""
