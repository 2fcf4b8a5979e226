"""The waiting users of one gender who seek the same genders, kept so that they are quickly found.

Each ticket stands in order by its key three times: among all of the group, among those of the same
place (a cell of one degree), and among those of the same place and year of birth. It also is a
row of numbers, for the searches that must look at everybody (`Columns`).
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from math import asin, cos, degrees, floor, pi, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sortedcontainers import SortedList

from yoked_actor.domain.matching.fairness import Standing, Ticket
from yoked_actor.domain.matching.tiers import Limits
from yoked_actor.domain.people import EARTH_RADIUS_KM, born_number

CELL_DEGREES = 1.0
ROW = 1 << 12
ALL_YEARS = 0

Item = tuple[int, str, "Entry"]
"""Sorts by falling key, then by user id, which is unique."""
Phases = tuple[list[Item], list[Item]]
Line = tuple[Sequence[Item], Sequence[Item]]
"""Tickets in order, by phase."""
Place = int
"""The number of a cell: its row times ROW, and its band."""

_HALF_TURN = round(180 / CELL_DEGREES)
_SLACK = 1 + 1e-9
_LONGEST_CHORD2 = 4.001
_ANY_AGE = 30_000


def place_of(lat: float, lon: float) -> Place:
    """The cell that a position lies in."""
    return ROW * floor(lat / CELL_DEGREES) + floor(lon / CELL_DEGREES)


def cells_around(lat: float, lon: float, km: float, most: int) -> list[Place] | None:
    """The cells within a distance, and perhaps a few more; None when they are too many."""
    radius = km / EARTH_RADIUS_KM
    high = degrees(radius) * _SLACK + 1e-9
    if abs(lat) + high >= 89.9:
        return None  # Around a pole every band is near.
    wide = degrees(asin(sin(radius) / cos(radians(lat)))) * _SLACK + 1e-9
    south, north = floor((lat - high) / CELL_DEGREES), floor((lat + high) / CELL_DEGREES)
    west, east = floor((lon - wide) / CELL_DEGREES), floor((lon + wide) / CELL_DEGREES)
    if (north - south + 1) * (east - west + 1) > most or east - west >= 2 * _HALF_TURN - 1:
        return None
    bands: Iterable[int] = range(west, east + 1)
    if west <= -_HALF_TURN or east >= _HALF_TURN - 1:
        bands = {(band + _HALF_TURN) % (2 * _HALF_TURN) - _HALF_TURN for band in bands}
        bands.add(_HALF_TURN)  # The meridian of 180 degrees, written with a plus.
    return [row + band for row in range(south * ROW, (north + 1) * ROW, ROW) for band in bands]


def reach2(km: float) -> float:
    """The squared chord, on a globe of radius 1, that a distance reaches; raised by a hair."""
    half = km / EARTH_RADIUS_KM / 2
    if half >= pi / 2:
        return _LONGEST_CHORD2
    return float((2 * sin(half)) ** 2 * _SLACK + 1e-18)


class Entry:
    """A ticket with its numbers at hand."""

    __slots__ = (
        "born",
        "cos_lat",
        "item",
        "lat",
        "limits",
        "lon",
        "max_age",
        "max_km",
        "min_age",
        "place",
        "row",
        "shown_cos_lat",
        "shown_lat",
        "shown_lon",
        "standing",
        "ticket",
        "user_id",
    )

    def __init__(
        self, ticket: Ticket, limits: Limits, standing: Standing, shown: tuple[float, float]
    ) -> None:
        """`shown` is where its user is shown to be, in degrees: for `explain`, not for pairing."""
        person = ticket.person
        self.shown_lat, self.shown_lon = radians(shown[0]), radians(shown[1])
        self.shown_cos_lat = cos(self.shown_lat)
        self.ticket = ticket
        self.user_id = person.user_id
        self.born = born_number(person.birth_date)
        self.lat = radians(person.lat)
        self.lon = radians(person.lon)
        self.cos_lat = cos(self.lat)
        self.min_age = limits.min_age
        self.max_age = limits.max_age
        self.max_km = limits.max_km
        self.place = place_of(person.lat, person.lon)
        self.row = -1
        self.stand(standing)

    def stand(self, standing: Standing) -> None:
        """Take up a standing."""
        self.standing = standing
        self.item: Item = (-standing.key, self.user_id, self)


_TYPES: dict[str, Any] = {
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
    "wanted_ages": np.int64,
    "wanted_span": np.int64,
    "wanted_km": np.float64,
}


class Columns:
    """Rows of numbers without gaps: the last one moves into the place of one that goes."""

    __slots__ = ("_columns", "size")

    def __init__(self) -> None:
        self.size = 0
        self._columns: dict[str, NDArray[Any]] = {
            name: np.zeros(8, kind) for name, kind in _TYPES.items()
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._columns[name][: self.size]

    def append(self, entry: Entry) -> None:
        """Add a row for an entry."""
        columns, row = self._columns, self.size
        if row == len(columns["born"]):
            for name, column in columns.items():
                columns[name] = np.concatenate([column, np.zeros_like(column)])
        self.size += 1
        entry.row = row
        person = entry.ticket.person
        columns["born"][row] = entry.born
        columns["min_age"][row] = entry.min_age
        columns["max_age"][row] = min(entry.max_age, _ANY_AGE)
        columns["x"][row] = entry.cos_lat * cos(entry.lon)
        columns["y"][row] = entry.cos_lat * sin(entry.lon)
        columns["z"][row] = sin(entry.lat)
        columns["shown_x"][row] = entry.shown_cos_lat * cos(entry.shown_lon)
        columns["shown_y"][row] = entry.shown_cos_lat * sin(entry.shown_lon)
        columns["shown_z"][row] = sin(entry.shown_lat)
        columns["reach2"][row] = reach2(entry.max_km)
        columns["wanted_ages"][row] = person.min_age + person.max_age
        columns["wanted_span"][row] = person.max_age - person.min_age + 2
        columns["wanted_km"][row] = person.max_distance_km
        self.stand(entry)

    def stand(self, entry: Entry) -> None:
        """Write down where an entry stands."""
        self._columns["key"][entry.row] = entry.standing.key
        self._columns["phase"][entry.row] = entry.standing.phase

    def remove(self, row: int) -> None:
        """Take a row out; the last one takes its number."""
        self.size -= 1
        for column in self._columns.values():
            column[row] = column[self.size]


class Group:
    """Tickets of equal (gender, seeking)."""

    __slots__ = ("columns", "entries", "order", "places")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.columns = Columns()
        self.order: tuple[SortedList[Item], SortedList[Item]] = (SortedList(), SortedList())
        self.places: dict[Place, dict[int, Phases]] = {}

    def __len__(self) -> int:
        return len(self.entries)

    def add(self, entry: Entry) -> None:
        """Take an entry in."""
        self.columns.append(entry)
        self.entries.append(entry)
        self._line_up(entry)

    def remove(self, entry: Entry) -> None:
        """Let an entry go, for good."""
        self._step_out(entry)
        # The two refer to each other, and the garbage collector looks rarely.
        del entry.item
        self.columns.remove(entry.row)
        last = self.entries.pop()
        if last is not entry:
            last.row = entry.row
            self.entries[entry.row] = last

    def stand(self, entry: Entry, standing: Standing) -> None:
        """Give an entry another standing."""
        self._step_out(entry)
        entry.stand(standing)
        self.columns.stand(entry)
        self._line_up(entry)

    def _line_up(self, entry: Entry) -> None:
        phase, item = entry.standing.phase, entry.item
        self.order[phase].add(item)
        years = self.places.setdefault(entry.place, {})
        for year in (ALL_YEARS, entry.born // 10_000):
            phases = years.get(year)
            if phases is None:
                phases = years[year] = ([], [])
            insort(phases[phase], item)

    def _step_out(self, entry: Entry) -> None:
        phase, item = entry.standing.phase, entry.item
        self.order[phase].remove(item)
        years = self.places[entry.place]
        for year in (ALL_YEARS, entry.born // 10_000):
            phases = years[year]
            line = phases[phase]
            del line[bisect_left(line, item)]
            if not phases[0] and not phases[1]:
                del years[year]
        if not years:
            del self.places[entry.place]


def walk(lines: Sequence[Line], lifts: tuple[int, int]) -> Iterator[tuple[int, Entry]]:
    """Everybody in some ordered lists, with their standing, in falling order of it."""
    heads: list[tuple[int, str, Entry, int, Sequence[Item], int]] = []
    for phases in lines:
        for line, lift in zip(phases, lifts, strict=True):
            if line:
                minus_key, user_id, entry = line[0]
                heads.append((minus_key - lift, user_id, entry, 1, line, lift))
    heapify(heads)
    while heads:
        minus_base, _, entry, following, line, lift = heads[0]
        yield -minus_base, entry
        if following < len(line):
            minus_key, user_id, entry = line[following]
            heapreplace(heads, (minus_key - lift, user_id, entry, following + 1, line, lift))
        else:
            heappop(heads)
