"""The index of the waiting users of one gender who seek the same genders.

Each ticket is in two lists, ordered by key: that of the group and that of its cell of one degree.
A cell of many tickets has a list for each birth year, too. Each ticket is also a row of numbers
(`Columns`). The list of the group and the rows are for searches that read the whole group; most
tickets leave before one does, so both are brought up to date when they are read, or when too many
tickets wait for it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heapreplace
from typing import Final

from sortedcontainers import SortedList

from yoked_actor.domain.geometry import Cell
from yoked_actor.domain.matching.columns import MOST_UNWRITTEN, Columns, Entry, Item
from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.matching.waiting import Standing, Ticket

ALL_YEARS: Final = 0
Phases = tuple[list[Item], list[Item]]
Line = tuple[Sequence[Item], Sequence[Item]]
"""Ordered lists of tickets, by phase."""

# Not final: tests change it.
_FEW = 16
"""A cell of so many tickets has no lists by year: reading all of them is faster."""


class Group:
    """Tickets of equal (gender, seeking)."""

    __slots__ = ("_order", "_unordered", "cells", "columns", "entries")

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.columns = Columns()
        self._order: tuple[SortedList[Item], SortedList[Item]] | None = None
        self._unordered: dict[str, Entry] = {}
        """The entries that are not in `_order` yet, by user."""
        self.cells: dict[Cell, dict[int, Phases]] = {}
        """The list of each cell, and those of its years if it has had more than a few tickets."""

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def order(self) -> tuple[SortedList[Item], SortedList[Item]]:
        """All entries, by phase."""
        return self._sort()

    def add(self, entry: Entry) -> None:
        """Add an entry."""
        self.columns.append(entry)
        self.entries.append(entry)
        self._line_up(entry)

    def remove(self, entry: Entry) -> None:
        """Remove an entry."""
        self._step_out(entry)
        # Break the reference cycle, so that the entry is freed at once.
        del entry.item
        self.columns.remove(entry.row)
        last = self.entries.pop()
        if last is not entry:
            last.row = entry.row
            self.entries[entry.row] = last

    def widen(self, entry: Entry, ticket: Ticket, limits: Limits) -> None:
        """Change the tier of an entry, and with it the limits."""
        entry.widen(ticket, limits)
        self.columns.widen(entry)

    def stand(self, entry: Entry, standing: Standing) -> None:
        """Change the standing of an entry."""
        self._step_out(entry)
        entry.stand(standing)
        self.columns.stand(entry)
        self._line_up(entry)

    def _line_up(self, entry: Entry) -> None:
        phase, item = entry.standing.phase, entry.item
        self._unordered[entry.user_id] = entry
        if len(self._unordered) > MOST_UNWRITTEN:
            self._sort()
        years = self.cells.get(entry.cell)
        if years is None:
            years = self.cells[entry.cell] = {ALL_YEARS: ([], [])}
        everybody = years[ALL_YEARS]
        insort(everybody[phase], item)
        if len(years) > 1:
            insort(_of_year(years, entry)[phase], item)
        elif len(everybody[0]) + len(everybody[1]) > _FEW:
            for _, _, other in (*everybody[0], *everybody[1]):
                insort(_of_year(years, other)[other.standing.phase], other.item)

    def _sort(self) -> tuple[SortedList[Item], SortedList[Item]]:
        order = self._order
        if order is None:
            order = self._order = (SortedList(), SortedList())
        for entry in self._unordered.values():
            order[entry.standing.phase].add(entry.item)
        self._unordered.clear()
        return order

    def _step_out(self, entry: Entry) -> None:
        phase, item = entry.standing.phase, entry.item
        if self._unordered.pop(entry.user_id, None) is None:
            assert self._order is not None
            self._order[phase].remove(item)
        years = self.cells[entry.cell]
        everybody = years[ALL_YEARS]
        line = everybody[phase]
        del line[bisect_left(line, item)]
        if not everybody[0] and not everybody[1]:
            del self.cells[entry.cell]
        elif len(years) > 1:
            phases = _of_year(years, entry)
            line = phases[phase]
            del line[bisect_left(line, item)]
            if not phases[0] and not phases[1]:
                del years[entry.born // 10_000]


def _of_year(years: dict[int, Phases], entry: Entry) -> Phases:
    """The list of an entry's year in its cell."""
    year = entry.born // 10_000
    phases = years.get(year)
    if phases is None:
        phases = years[year] = ([], [])
    return phases


def walk(lines: Sequence[Line], lifts: tuple[int, int]) -> Iterator[tuple[int, Entry]]:
    """All entries of some ordered lists, merged, in descending order of their standing."""
    heads: list[tuple[int, str, Entry, int, Sequence[Item], int]] = []
    for phases in lines:
        for phase, line in enumerate(phases):
            if line:
                lift = lifts[phase]
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
