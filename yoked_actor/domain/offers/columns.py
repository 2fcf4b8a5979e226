"""The people of a frozen pool as columns of numbers (R42).

Results are the same on every machine: positions are integers on a globe, rounded to 40 cm, ages are
whole years, and all arithmetic is on integers, on floats that hold integers, or a single correctly
rounded operation. A distance limit may be up to a metre too strict, never too wide.

Memory access is the bottleneck of a large pool. So columns are in the order of cells, not of the
people's numbers: `rows` are positions in that order, `numbers` are positions in the pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import floor

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import angles_of, chord_of, unit_vector
from yoked_actor.domain.offers.breathing import Breathe, breathing, never
from yoked_actor.domain.offers.cells import CELLS
from yoked_actor.domain.offers.frozen_pool import (
    FrozenPerson,
    FrozenPool,
    pairs_by_first,
    pairs_by_second,
)
from yoked_actor.domain.offers.tags import Tags
from yoked_actor.domain.people import ADULT_AGE, born_number
from yoked_actor.domain.time import utc_date

Numbers = NDArray[np.int64]
Rows = NDArray[np.int64]

_GLOBE = 1 << 24
"""The radius of the globe in units of 38 cm."""
_UNSURE = 1e-5
"""How near to the middle of two units a coordinate is computed again, with `math`."""
_TOO_STRICT = 2
_ANYWHERE = (2.0 * _GLOBE + 4) ** 2
"""More than the largest squared distance of two positions."""
_FACTORS, _SUMMANDS = np.array((-2.0, -2.0, -2.0, 0.0)), np.array((0.0, 0.0, 0.0, 1.0))
_VALUES = 6
CLOSED = 32_000
"""The least age that a person accepts who is not offered (any more): above every age."""


class Columns:
    """One value for each person."""

    def __init__(self, pool: FrozenPool, breathe: Breathe = never) -> None:
        """`breathe` is called often."""
        self.people = pool.people
        count = len(self.people)

        def people() -> Iterator[FrozenPerson]:
            return breathing(self.people, breathe)

        # By number:
        values = np.fromiter(
            chain.from_iterable(map(_values, people())), np.float64, _VALUES * count
        ).reshape(count, _VALUES)
        lat, lon, born, youngest, oldest, self.kms = values.T.copy()
        self.cells = _cells(lat, lon)
        self.numbers, self.rows = _by_place(self.cells)
        self.apart = pairs_by_first(pool.apart, count)
        self.not_again = pairs_by_first(pool.not_again, count)
        self.accepted_by = pairs_by_second(pool.accepted, count)
        today = utc_date(pool.offered_at)
        # As `age_on`: the whole years between two dates yyyymmdd.
        self.years = (born_number(today) - born.astype(np.int64)) // 10_000
        self.positions = np.stack((lat, lon), axis=1)
        lat, lon = np.radians(lat), np.radians(lon)
        self.all_angles = np.stack((lat, np.cos(lat), lon), axis=1)
        """The angles of all positions; their last bits may differ from those of `angles_of`."""
        self.spots = _spots(self.all_angles, self.positions)
        kms, which = np.unique(self.kms, return_inverse=True)
        self.wishes = np.array([reach2(km) for km in kms.tolist()]).take(which)
        self.youngest = np.minimum(youngest, CLOSED).astype(np.int64)
        self.oldest = np.minimum(oldest, CLOSED).astype(np.int64)
        # By row:
        self.ages = self.years.astype(np.int16)[self.numbers]
        self.min_ages = self.youngest.astype(np.int16)[self.numbers]
        self.min_ages[self.ages < ADULT_AGE] = CLOSED
        self.max_ages = self.oldest.astype(np.int16)[self.numbers]
        self.reaches = self.wishes[self.numbers]
        self.globe = self.spots[self.numbers]
        in_rows = [self.people[number].interests for number in self.numbers.tolist()]
        self.tags = Tags(in_rows, breathe)

    def toward(self, one: int | Numbers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What turns the globe's columns into squared chords: factors and summands.

        |a - b|^2 is |b|^2 - 2ab + |a|^2: all integers below 2^53, so that every sum is exact in any
        order.
        """
        spots = self.spots[one]
        return spots * _FACTORS + _SUMMANDS, spots[..., 3]

    def all_kept_apart(self, ones: Numbers) -> tuple[Numbers, Rows]:
        """`kept_apart` for many people: the position of each among them, and a row."""
        apart, again = self.apart.of_all(ones), self.not_again.of_all(ones)
        which = np.concatenate((apart[0], again[0], np.arange(len(ones))))
        return which, self.rows.take(np.concatenate((apart[1], again[1], ones)))

    def all_accepted_by(self, ones: Numbers) -> tuple[Numbers, Rows]:
        """The rows of people who have accepted an offer of one: a position, and a row."""
        which, numbers = self.accepted_by.of_all(ones)
        return which, self.rows.take(numbers)

    def kept_apart(self, one: int, also: Sequence[int] = ()) -> Rows:
        """The rows of a person, of people whom something keeps apart from them, and of others."""
        numbers = np.concatenate((self.apart[one], self.not_again[one], [one, *also]))
        return self.rows.take(numbers)


def reach2(km: float) -> float:
    """The squared chord of a distance, in integer units."""
    return float(floor(min(max(0.0, _GLOBE * chord_of(km) - _TOO_STRICT) ** 2, _ANYWHERE)))


def _values(person: FrozenPerson) -> tuple[float, ...]:
    """The numbers of a person. A birth date is a number, too."""
    return (
        person.lat,
        person.lon,
        born_number(person.birth_date),
        person.min_age,
        person.max_age,
        person.max_distance_km,
    )


def _cells(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> NDArray[np.int64]:
    """`CELLS.cell_of` for many positions."""
    per, around = CELLS.per_degree, CELLS.columns
    row, column = np.floor(lat * per).astype(np.int64), np.floor(lon * per).astype(np.int64)
    return row * around + column % around


def _by_place(cells: NDArray[np.int64]) -> tuple[Numbers, Rows]:
    """The number of each row and the row of each number; rows are in the order of cells."""
    numbers = np.argsort(cells, kind="stable")
    rows = np.empty_like(numbers)
    rows[numbers] = np.arange(len(cells))
    return numbers, rows


def _spots(angles: NDArray[np.float64], positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """`_on_globe` for many positions, given in radians and in degrees.

    NumPy's sine may differ from that of `math` in the last bit, so a coordinate that would be
    rounded otherwise is computed again: the result is that of `_on_globe` in any case.
    """
    lat, cos_lat, lon = angles.T
    units = np.stack((cos_lat * np.cos(lon), cos_lat * np.sin(lon), np.sin(lat)), axis=1)
    units *= _GLOBE
    spots = np.empty((len(angles), 4))
    np.rint(units, out=spots[:, :3])
    spots[:, 3] = (spots[:, :3] * spots[:, :3]).sum(axis=1)
    unsure = np.abs(units - spots[:, :3]).max(axis=1) > 0.5 - _UNSURE
    for index in unsure.nonzero()[0].tolist():
        spots[index] = _on_globe(*angles_of(*positions[index].tolist()))
    return spots


def _on_globe(lat: float, cos_lat: float, lon: float) -> tuple[int, int, int, int]:
    """A position in integer units, and the square of its distance from the centre."""
    x, y, z = (round(_GLOBE * one) for one in unit_vector(lat, cos_lat, lon))
    return x, y, z, x * x + y * y + z * z
