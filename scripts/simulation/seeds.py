"""The fixed seeds: those of the test command, within which planted faults have to be caught."""

from __future__ import annotations

from yoked_actor.simulation.plan import ALL_FAULTS, Wish

SEEDS = (
    Wish(seed=22, people=20, days=2),
    Wish(seed=23, people=20, days=2, faults=ALL_FAULTS),
    Wish(seed=31, people=20, days=2, faults=ALL_FAULTS),
    Wish(seed=7, people=20, days=2, faults=ALL_FAULTS),
    Wish(seed=10, people=20, days=2, faults=ALL_FAULTS),
)
"""A calm run, and runs with everything that goes wrong. All but one have a night on which the
clocks of a zone change, and that one has a leap day."""
