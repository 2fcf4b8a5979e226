"""The search for candidates among the people of a frozen pool (R3, R4, R43).

Candidates are first narrowed down by gender, by cells of half a degree, and by age. If more than
`MOST_CHECKED` are left, only every n-th is checked, with another start for each user and day; all
are checked only if those do not fill the set. Lists by cell are cached and shared by all receivers
of a cell. The size of the cache is bounded.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import Cell
from yoked_actor.domain.matching import Limits
from yoked_actor.domain.offers.cells import CELLS, REACHES_KM
from yoked_actor.domain.offers.columns import CLOSED, Columns, Numbers, Rows, reach2
from yoked_actor.domain.offers.scoring import ONE, Ints, content
from yoked_actor.domain.people import ADULT_AGE

Kind = tuple[str, tuple[str, ...]]
Place = tuple[Kind, Cell, int]
"""Genders, a cell, and a distance: the receivers of a place share a list of candidates."""

_AGES = np.arange(200, dtype=np.int16)
"""The last one is above every age limit."""
_MOST_LISTED = 15_000_000
MOST_CHECKED = 2048


class Suiting(msgspec.Struct, frozen=True):
    """The candidates of one receiver, with their points of content."""

    numbers: Numbers
    points: Ints
    complete: bool
    """Whether all candidates were checked."""


class Listed:
    """The candidates near a cell, in ascending order of age."""

    __slots__ = ("edges", "rows")

    def __init__(self, rows: Rows, ages: NDArray[np.int16]) -> None:
        theirs = ages[rows]
        order = np.argsort(theirs, kind="stable")
        self.rows: Rows = rows[order]
        # For each age, how many are younger.
        self.edges: Ints = np.searchsorted(theirs[order], _AGES)

    def checked(self, limits: Limits, seed: int | None) -> slice:
        """The places that are checked: all inside the limits, or every n-th from a start."""
        oldest = len(self.edges) - 1
        first = int(self.edges[min(limits.min_age, oldest)])
        last = int(self.edges[min(limits.max_age + 1, oldest)])
        every = 1 if seed is None else max(1, -(-(last - first) // MOST_CHECKED))
        start = 0 if seed is None else seed % every
        return slice(first + start, max(last, first + start), every)

    def all_checked(
        self, min_ages: Ints, max_ages: Ints, seeds: NDArray[np.uint64]
    ) -> tuple[Ints, Ints, Ints]:
        """`checked` for many receivers: the starts, the stops and the steps."""
        oldest = len(self.edges) - 1
        firsts = self.edges.take(np.minimum(min_ages, oldest))
        lasts = self.edges.take(np.minimum(max_ages + 1, oldest))
        every = np.maximum(-((firsts - lasts) // MOST_CHECKED), 1)
        starts = firsts + (seeds % every.astype(np.uint64)).astype(np.int64)
        return starts, np.maximum(lasts, starts), every


class Candidates:
    """All candidates of a run. People are named by their number in the pool."""

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self._people = columns.people
        # The rows that accept an age, for each age that occurs.
        self._accepting: dict[int, NDArray[np.bool_]] = {}
        self._kinds = self._by_kind()
        self._kind_of = np.empty(len(self._people), np.int64)
        for code, rows in enumerate(self._kinds.values()):
            self._kind_of[columns.numbers.take(rows)] = code
        self._by_cell: dict[Kind, dict[Cell, Rows]] = {}
        self._listed: dict[Place, Listed] = {}
        self._listed_rows = 0

    def are_adults(self, ones: Sequence[int]) -> list[bool]:
        """Whether each person is an adult, and may receive offers."""
        adults: list[bool] = (
            self._columns.years.take(np.array(ones, np.int64)) >= ADULT_AGE
        ).tolist()
        return adults

    def close(self, number: int) -> None:
        """Do not offer this person again."""
        row = self._columns.rows[number]
        self._columns.min_ages[row] = CLOSED
        for accepting in self._accepting.values():
            accepting[row] = False

    def suiting(self, one: int, limits: Limits, taken: list[int], seed: int | None) -> Suiting:
        """All people inside one's limits who accept them, and whom nothing keeps apart from them.

        With a `seed`, which gives the start, at most `MOST_CHECKED` are checked.
        """
        columns = self._columns
        listed = self.listed(self.place_of(one, limits.max_km))
        which = listed.checked(limits, seed)
        rows = np.ascontiguousarray(listed.rows[which])
        rows = rows[self._open_to(one, rows, taken)]
        toward, square = columns.toward(one)
        chord2 = columns.globe.take(rows, axis=0).dot(toward) + square
        reaches = columns.reaches.take(rows)
        inside = (chord2 <= np.minimum(reaches, reach2(limits.max_km))).nonzero()[0]
        rows, chord2, reaches = rows.take(inside), chord2.take(inside), reaches.take(inside)
        # Relative to the narrower of both preferences, so that both get the same points.
        narrower = np.maximum(np.minimum(reaches, columns.wishes[one]), 1)
        lost = np.minimum(np.sqrt(chord2 / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(columns.ages.take(rows) - columns.years[one]).astype(np.int64)
        alike = columns.tags.likeness(int(columns.rows[one]), rows)
        points = content(years, alike, lost)
        return Suiting(columns.numbers.take(rows), points, which.step == 1)

    def sure(self, one: int, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of these have accepted an offer of this person."""
        accepted_by = self._columns.accepted_by[one]
        if not len(accepted_by):
            return np.zeros(0, np.bool_)
        return np.isin(numbers, accepted_by)

    def accepting(self, age: int) -> NDArray[np.bool_]:
        """The rows that accept an age and are not closed. The caller must not change them."""
        accepting = self._accepting.get(age)
        if accepting is None:
            columns = self._columns
            accepting = (columns.min_ages <= age) & (columns.max_ages >= age)
            self._accepting[age] = accepting
        return accepting

    def _open_to(self, one: int, rows: Rows, taken: list[int]) -> NDArray[np.bool_]:
        """Which of these rows accept one's age, and are not kept apart from them."""
        accepting = self.accepting(int(self._columns.years[one]))
        kept = self._columns.kept_apart(one, taken)
        before = accepting.take(kept)
        accepting[kept] = False
        found = accepting.take(rows)
        accepting[kept] = before
        return found

    def place_of(self, one: int, km: float) -> Place:
        """The place whose list of candidates is one's, with a distance limit."""
        person = self._people[one]
        reach = bisect_left(REACHES_KM, km)
        cell = 0 if reach == len(REACHES_KM) else int(self._columns.cells[one])
        return (person.gender, person.seeking), cell, reach

    def by_place(self, ones: Numbers) -> Iterator[tuple[Place, Ints]]:
        """The places of people with their own limits, and the positions of the people of each."""
        reaches = np.searchsorted(REACHES_KM, self._columns.kms.take(ones))
        cells = self._columns.cells.take(ones)
        cells[reaches == len(REACHES_KM)] = 0
        values = self._kind_of.take(ones), cells, reaches
        order = np.lexsort(values)
        differs = np.zeros(max(len(ones) - 1, 0), np.bool_)
        for column in values:
            ordered = column.take(order)
            differs |= ordered[1:] != ordered[:-1]
        for positions in np.split(order, differs.nonzero()[0] + 1) if len(ones) else ():
            one = int(ones[positions[0]])
            yield self.place_of(one, self._people[one].max_distance_km), positions

    def listed(self, place: Place) -> Listed:
        """The rows of suiting genders in the cells within reach of a place."""
        listed = self._listed.get(place)
        if listed is None:
            if self._listed_rows > _MOST_LISTED:
                self._listed.clear()
                self._listed_rows = 0
            listed = self._list(*place)
            self._listed_rows += len(listed.rows)
            self._listed[place] = listed
        return listed

    def _list(self, kind: Kind, cell: Cell, reach: int) -> Listed:
        cells = self._by_cell.get(kind)
        if cells is None:
            cells = self._by_cell[kind] = self._cells(kind)
        if reach == len(REACHES_KM):
            near = list(cells.values())
        else:
            within = CELLS.around_cell(cell, REACHES_KM[reach])
            near = [cells[one] for one in within if one in cells]
        return Listed(np.concatenate([np.empty(0, np.int64), *near]), self._columns.ages)

    def _cells(self, kind: Kind) -> dict[Cell, Rows]:
        gender, seeking = kind
        found: dict[Cell, list[int]] = {}
        for (other, sought), rows in self._kinds.items():
            if other in seeking and gender in sought:
                cells = self._columns.cells.take(self._columns.numbers.take(rows)).tolist()
                for row, cell in zip(rows, cells, strict=True):
                    found.setdefault(cell, []).append(row)
        return {cell: np.array(rows, np.int64) for cell, rows in found.items()}

    def _by_kind(self) -> dict[Kind, list[int]]:
        kinds: dict[Kind, list[int]] = {}
        for row, number in enumerate(self._columns.numbers.tolist()):
            person = self._people[number]
            kinds.setdefault((person.gender, person.seeking), []).append(row)
        return kinds
