"""The fixed seeds: those of the test command, within which planted faults have to be caught."""

from __future__ import annotations

from yoked_actor.simulation.plan import ALL_FAULTS, Wish

SEEDS = (
    Wish(seed=22, people=40, days=3),
    Wish(seed=31, people=30, days=2, faults=ALL_FAULTS),
    Wish(seed=7, people=40, days=2, faults=("crash", "power", "drain")),
    Wish(seed=8, people=40, days=2, faults=("crash", "power", "drain")),
    Wish(seed=51, people=40, days=2, faults=("clock", "suspend", "reload")),
    Wish(seed=23, people=40, days=2, faults=("socket", "disk", "statement")),
    Wish(seed=12, people=40, days=2, faults=("crash", "statement", "side_task", "worker")),
    Wish(seed=42, people=30, days=2, faults=("worker",)),
)
"""A calm run, one with everything that goes wrong, and some in which a few kinds of faults come
often."""
