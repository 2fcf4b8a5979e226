"""Distances on a globe, and grids of cells that find positions near each other.

Latitudes and longitudes are in degrees. `Angles` are the same position in radians, with the cosine
of the latitude between the two: computed once, used for many distances. A chord is the straight
line between two positions, on a globe of radius 1.
"""

from __future__ import annotations

from math import asin, cos, floor, inf, pi, sin, sqrt
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

EARTH_RADIUS_KM: Final = 6371.0088
KM_PER_DEGREE: Final = EARTH_RADIUS_KM * pi / 180
"""Along a meridian."""

V = TypeVar("V")
Angles = tuple[float, float, float]
Cell = int
"""The number of a cell of a `Grid`."""

# As `math.radians` and `math.degrees` compute it: compiled code multiplies faster than it calls.
_RADIAN: Final = pi / 180
_DEGREE: Final = 180 / pi
_NEAR_POLE: Final = 89.0
_SLACK: Final = 1 + 1e-9


def angles_of(lat: float, lon: float) -> Angles:
    """A position in radians: the latitude, its cosine, the longitude."""
    lat *= _RADIAN
    return lat, cos(lat), lon * _RADIAN


def haversine_km(
    lat_a: float, cos_a: float, lon_a: float, lat_b: float, cos_b: float, lon_b: float
) -> float:
    """The great-circle distance of two positions, given by their `Angles`."""
    half_lat = sin((lat_b - lat_a) / 2)
    half_lon = sin((lon_b - lon_a) / 2)
    h = half_lat * half_lat + cos_a * cos_b * (half_lon * half_lon)
    return 2 * EARTH_RADIUS_KM * asin(min(1.0, sqrt(h)))


def unit_vector(lat: float, cos_lat: float, lon: float) -> tuple[float, float, float]:
    """The position of some `Angles` as x, y, z on a globe of radius 1."""
    return cos_lat * cos(lon), cos_lat * sin(lon), sin(lat)


def chord_of(km: float) -> float:
    """The chord of a great-circle distance; infinite from half of a great circle on."""
    half = km / EARTH_RADIUS_KM / 2
    return inf if half >= pi / 2 else 2 * sin(half)


def kms_of(chords2: NDArray[np.float64]) -> NDArray[np.float64]:
    """The great-circle distances of squared chords; rounded more than those of `haversine_km`."""
    kms: NDArray[np.float64] = (
        2 * EARTH_RADIUS_KM * np.arcsin(np.minimum(1.0, np.sqrt(chords2) / 2))
    )
    return kms


Box = tuple[int, int, int, int]
"""Cells of a `Grid`: the first and the last row, and the first and the last column.

The columns are not reduced to one turn: the last one may be beyond the end of a row.
"""


class Grid:
    """Cells of equal sides in degrees, numbered row by row from the south, eastwards from 0."""

    __slots__ = ("per_degree",)

    def __init__(self, per_degree: int) -> None:
        self.per_degree = per_degree

    @property
    def columns(self) -> int:
        """How many cells a row has."""
        return 360 * self.per_degree

    def cell_of(self, lat: float, lon: float) -> Cell:
        """The cell of a position."""
        around = 360 * self.per_degree
        return floor(lat * self.per_degree) * around + floor(lon * self.per_degree) % around

    def around_position(self, lat: float, lon: float, km: float, most: int) -> Box | None:
        """All cells within a distance of a position, and perhaps some more.

        None when there would be more than `most`, or when the circle comes near a pole.
        """
        return _box_around(self.per_degree, lat, lon, km, most)

    def among(self, box: Box, occupied: dict[Cell, V]) -> list[V]:
        """The values of the cells of a box that have one."""
        south, north, west, east = box
        around = 360 * self.per_degree
        first, last = south * around, (north + 1) * around
        if len(occupied) < (north - south + 1) * (east - west + 1):
            return [
                value
                for cell, value in occupied.items()
                if first <= cell < last and (cell - west) % around <= east - west
            ]
        columns = [column % around for column in range(west, east + 1)]
        return [
            occupied[row + column]
            for row in range(first, last, around)
            for column in columns
            if row + column in occupied
        ]

    def around_cell(self, cell: Cell, km: float) -> list[Cell]:
        """All cells within a distance of some position of a cell, and some more."""
        per, around = self.per_degree, 360 * self.per_degree
        row, column = divmod(cell, around)
        up = floor(km / EARTH_RADIUS_KM * _DEGREE * per) + 1
        # The parallel of the cell that is nearer to a pole: the circle is widest in degrees there.
        width = _half_width(max(abs(row), abs(row + 1)) / per, km) * per + 1
        if 2 * width + 1 >= around:
            columns = range(around)
        else:
            columns = range(column - floor(width), column + floor(width) + 1)
        return [
            one * around + other % around
            for one in range(row - up, row + up + 1)
            for other in columns
        ]


def _box_around(per: int, lat: float, lon: float, km: float, most: int) -> Box | None:
    width = _half_width(lat, km)
    if width == inf:
        return None
    high, wide = km / EARTH_RADIUS_KM * _DEGREE * _SLACK + 1e-9, width * _SLACK + 1e-9
    south, north = floor((lat - high) * per), floor((lat + high) * per)
    west, east = floor((lon - wide) * per), floor((lon + wide) * per)
    if (north - south + 1) * (east - west + 1) > most or east - west >= 360 * per - 1:
        return None
    return south, north, west, east


def _half_width(lat: float, km: float) -> float:
    """Half the degrees of longitude that a circle spans; infinite when it comes near a pole."""
    arc = km / EARTH_RADIUS_KM
    if abs(lat) + arc * _DEGREE >= _NEAR_POLE:
        return inf
    return asin(sin(arc) / cos(lat * _RADIAN)) * _DEGREE
