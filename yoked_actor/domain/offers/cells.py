"""Cells of half a degree, by which people who may be near to each other are found."""

from __future__ import annotations

from bisect import bisect_left
from math import asin, cos, degrees, floor, inf, radians, sin

from yoked_actor.domain.people import EARTH_RADIUS_KM

Cell = tuple[int, int]
"""A row from the south pole up, and a column eastwards."""

_CELLS_A_DEGREE = 2
_CELLS_AROUND = 360 * _CELLS_A_DEGREE
REACHES_KM = (5, 10, 20, 35, 50, 75, 100, 150, 250, 400, 700, 1000)
"""The distances for which lists are kept."""


def place_of(lat: float, lon: float) -> Cell:
    """The cell of half a degree that a position lies in."""
    return floor(lat * _CELLS_A_DEGREE), floor(lon * _CELLS_A_DEGREE) % _CELLS_AROUND


def reach_class(km: float) -> int:
    """The distance for which lists are kept that holds this one; the furthest for all beyond."""
    return REACHES_KM[min(bisect_left(REACHES_KM, km), len(REACHES_KM) - 1)]


def cells_within(place: Cell, km: float) -> list[Cell]:
    """Every cell that has a position so near to some position of this cell, and some more."""
    arc = km / EARTH_RADIUS_KM
    up = floor(degrees(arc) * _CELLS_A_DEGREE) + 1
    rows = range(place[0] - up, place[0] + up + 1)
    edge = max(abs(place[0]), abs(place[0] + 1)) / _CELLS_A_DEGREE
    width = inf
    if edge + degrees(arc) < 89:
        width = degrees(asin(min(1.0, sin(arc) / cos(radians(edge))))) * _CELLS_A_DEGREE + 1
    if 2 * width + 1 >= _CELLS_AROUND:
        columns = range(_CELLS_AROUND)
    else:
        columns = range(place[1] - floor(width), place[1] + floor(width) + 1)
    return [(row, column % _CELLS_AROUND) for row in rows for column in columns]
