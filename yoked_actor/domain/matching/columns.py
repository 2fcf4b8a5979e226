"""A waiting ticket with its numbers, and the columns of numbers of a group of tickets.

A row of the columns is written when the columns are read, or when too many tickets wait for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import Angles, Grid, angles_of, chord_of, unit_vector
from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.matching.waiting import Standing, Ticket
from yoked_actor.domain.people import ShownPlaces, born_number
from yoked_actor.domain.time import Instant

CELLS: Final = Grid(per_degree=1)
EXACT: Final = ("x", "y", "z")
SHOWN: Final = ("shown_x", "shown_y", "shown_z")
"""The columns of exact and of shown positions."""

Item = tuple[int, str, "Entry"]
"""Sorts by descending key, then by user id, which is unique."""
_SLACK: Final = 1 + 1e-9
_LONGEST_CHORD2: Final = 4.001
_ANY_AGE: Final = 30_000
MOST_UNWRITTEN: Final = 32


def reach2(km: float) -> float:
    """The squared chord of a distance, on a globe of radius 1, slightly increased."""
    return min(chord_of(km) ** 2 * _SLACK + 1e-18, _LONGEST_CHORD2)


class Entry:
    """A ticket with its precomputed numbers."""

    # For mypyc: `del` of this attribute is allowed.
    __deletable__ = ("item",)
    __slots__ = (
        "_places",
        "_since",
        "angles",
        "born",
        "cell",
        "item",
        "max_age",
        "max_km",
        "min_age",
        "number",
        "row",
        "standing",
        "ticket",
        "user_id",
    )

    def __init__(
        self,
        ticket: Ticket,
        limits: Limits,
        standing: Standing,
        places: ShownPlaces,
        now: Instant,
        number: int,
    ) -> None:
        person = ticket.person
        self._places = places
        self._since = now
        self.number = number
        self.user_id = person.user_id
        self.born = born_number(person.birth_date)
        self.angles = angles_of(person.lat, person.lon)
        self.widen(ticket, limits)
        self.cell = CELLS.cell_of(person.lat, person.lon)
        self.row = -1
        self.stand(standing)

    @property
    def shown(self) -> Angles:
        """The shown place of the user when the entry was made: for `explain`, not for pairing.

        Most tickets leave before anything reads it, so it is computed when it is read.
        """
        lat, lon = self._places.of(self.ticket.person, self._since)
        return angles_of(lat, lon)

    def widen(self, ticket: Ticket, limits: Limits) -> None:
        """Set the ticket and its limits."""
        self.ticket = ticket
        self.min_age = limits.min_age
        self.max_age = limits.max_age
        self.max_km = limits.max_km

    def stand(self, standing: Standing) -> None:
        """Set the standing."""
        self.standing = standing
        self.item: Item = (-standing.key, self.user_id, self)


_TYPES: Final[dict[str, Any]] = {
    "number": np.int32,
    "born": np.int32,
    "min_age": np.int16,
    "max_age": np.int16,
    "x": np.float64,
    "y": np.float64,
    "z": np.float64,
    "shown_x": np.float64,
    "shown_y": np.float64,
    "shown_z": np.float64,
    "reach2": np.float64,
    "key": np.int64,
    "phase": np.int8,
    "strict_age": np.bool_,
    "strict_distance": np.bool_,
    "wanted_ages": np.int64,
    "wanted_span": np.int64,
    "wanted_km": np.float64,
}


class Columns:
    """Rows of numbers without gaps: the last row replaces a removed one."""

    __slots__ = ("_columns", "_unwritten", "size")

    def __init__(self) -> None:
        self.size = 0
        self._unwritten: dict[int, Entry] = {}
        self._columns: dict[str, NDArray[Any]] = {}
        """Empty until the first row is written."""

    def __getitem__(self, name: str) -> NDArray[Any]:
        if self._unwritten or not self._columns:
            self._write()
        return self._columns[name][: self.size]

    def append(self, entry: Entry) -> None:
        """Add a row for an entry."""
        entry.row = self.size
        self._unwritten[self.size] = entry
        self.size += 1
        if len(self._unwritten) > MOST_UNWRITTEN:
            self._write()

    def _write(self) -> None:
        columns = self._columns
        if not columns:
            columns.update((name, np.zeros(8, kind)) for name, kind in _TYPES.items())
        while self.size > len(columns["born"]):
            for name, column in columns.items():
                columns[name] = np.concatenate([column, np.zeros_like(column)])
        unwritten, self._unwritten = self._unwritten, {}
        for entry in unwritten.values():
            self._write_row(entry)

    def _write_row(self, entry: Entry) -> None:
        columns, row, person = self._columns, entry.row, entry.ticket.person
        columns["number"][row] = entry.number
        columns["born"][row] = entry.born
        columns["x"][row], columns["y"][row], columns["z"][row] = unit_vector(*entry.angles)
        x, y, z = unit_vector(*entry.shown)
        columns["shown_x"][row], columns["shown_y"][row], columns["shown_z"][row] = x, y, z
        columns["wanted_ages"][row] = person.min_age + person.max_age
        columns["wanted_span"][row] = person.max_age - person.min_age + 2
        columns["wanted_km"][row] = person.max_distance_km
        columns["strict_age"][row] = "age" in person.strict
        columns["strict_distance"][row] = "distance" in person.strict
        self.widen(entry)
        self.stand(entry)

    def chords2(
        self, axes: Iterable[str], rows: NDArray[np.intp], vector: Iterable[float]
    ) -> NDArray[np.float64]:
        """The squared chords between a position and the positions of some rows."""
        x, y, z = (self[name][rows] - own for name, own in zip(axes, vector, strict=True))
        chords2: NDArray[np.float64] = x * x + y * y + z * z
        return chords2

    def aged(self, before: int, today: int) -> NDArray[np.intp]:
        """The rows whose age is not the same on two days, given as `born_number` does."""
        born = self["born"]
        return np.flatnonzero((before - born) // 10_000 != (today - born) // 10_000)

    def widen(self, entry: Entry) -> None:
        """Set the limits of an entry."""
        row = entry.row
        if row not in self._unwritten:
            self._columns["min_age"][row] = entry.min_age
            self._columns["max_age"][row] = min(entry.max_age, _ANY_AGE)
            self._columns["reach2"][row] = reach2(entry.max_km)

    def stand(self, entry: Entry) -> None:
        """Set the standing of an entry."""
        if entry.row not in self._unwritten:
            self._columns["key"][entry.row] = entry.standing.key
            self._columns["phase"][entry.row] = entry.standing.phase

    def remove(self, row: int) -> None:
        """Remove a row; the last row gets its number."""
        self.size -= 1
        last = self._unwritten.pop(self.size, None)
        if row == self.size:
            return
        if last is not None:
            self._unwritten[row] = last
            return
        self._unwritten.pop(row, None)
        for column in self._columns.values():
            column[row] = column[self.size]
