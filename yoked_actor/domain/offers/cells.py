"""The cells of half a degree in which a run of offers finds people near each other."""

from __future__ import annotations

from bisect import bisect_left

from yoked_actor.domain.geometry import Grid

CELLS = Grid(per_degree=2)
REACHES_KM = (5, 10, 20, 35, 50, 75, 100, 150, 250, 400, 700, 1000)
"""The distances for which lists are kept."""


def reach_class(km: float) -> int:
    """The least distance of `REACHES_KM` that is not below this one, or the last one."""
    return REACHES_KM[min(bisect_left(REACHES_KM, km), len(REACHES_KM) - 1)]
