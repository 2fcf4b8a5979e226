"""Receivers who share a list of candidates, and who of the list suits each of them.

A group copies the columns of its list once, so that the values of neighbours are next to each other
in memory. A limit that holds for a whole block is not compared for each pair.
"""

from __future__ import annotations

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.offers.blocks import Block, Ranges
from yoked_actor.domain.offers.candidates import Listed
from yoked_actor.domain.offers.columns import Columns, Numbers, Rows
from yoked_actor.domain.offers.keys import LAST
from yoked_actor.domain.offers.scoring import Ints, Scorer
from yoked_actor.domain.offers.tags import TagColumns


class Suiting(msgspec.Struct, frozen=True, gc=False):
    """The pairs of a block in which the candidate may be offered to the receiver, row by row."""

    at: Ints
    """Their positions in the block."""
    counts: Ints
    """How many there are of each receiver."""
    places: Ints
    """The candidate of each, as a place of the list."""
    chord2: NDArray[np.float64]


class ListColumns:
    """The columns of a list, in the order of its places."""

    def __init__(self, columns: Columns, scorer: Scorer, rows: Rows) -> None:
        self.globe = np.ones((5, len(rows)))
        self.globe[:4] = columns.globe.take(rows, axis=0).T
        self.reaches = columns.reaches.take(rows)
        self.min_ages = columns.min_ages.take(rows)
        self.max_ages = columns.max_ages.take(rows)
        self.ages = columns.ages.take(rows)
        numbers = columns.numbers.take(rows)
        self.key_parts: Ints = LAST - numbers
        self.traits = scorer.traits(numbers)
        self.tags: TagColumns = columns.tags.of(rows)


class Group:
    """The receivers of one list, in the order of their blocks."""

    def __init__(
        self,
        columns: Columns,
        scorer: Scorer,
        listed: Listed,
        positions: Ints,
        ones: Numbers,
        seeds: NDArray[np.uint64],
        places: Ints,
    ) -> None:
        """`places` has the place of each row in the list, or -1."""
        ages = columns.youngest.take(ones), columns.oldest.take(ones)
        self.ranges = Ranges(*listed.all_checked(*ages, seeds))
        order = self.ranges.order
        self.positions, ones = positions.take(order), ones.take(order)
        self.rows: Rows = columns.rows.take(ones)
        self.years = columns.years.take(ones).astype(np.int16)
        self.wishes = columns.wishes.take(ones)
        self.traits = scorer.traits(ones)
        factors, summands = columns.toward(ones)
        self._toward = np.column_stack((factors, summands))
        which, rows = columns.all_kept_apart(ones)
        self._apart = Marks(which, places.take(rows))
        which, rows = columns.all_accepted_by(ones)
        self.accepted = Marks(which, places.take(rows))
        self.list = ListColumns(columns, scorer, listed.rows)

    def suiting(self, block: Block) -> Suiting:
        """As `Candidates.suiting`, for the receivers of a block and their own limits."""
        here, there = block.members, block.places
        chord2 = self._toward[here] @ np.ascontiguousarray(self.list.globe[:, there])
        suits = chord2 <= self.wishes[here, np.newaxis]
        suits &= chord2 <= self.list.reaches[there]
        self._compare_ages(suits, block)
        self._compare_ranges(suits, block)
        flat = suits.reshape(-1)
        flat[self._apart.within(block)] = False
        at = flat.nonzero()[0]
        starts = np.arange(len(suits) + 1) * block.width
        edges = at.searchsorted(starts)
        counts = edges[1:] - edges[:-1]
        places = at - starts[:-1].repeat(counts)
        places *= there.step
        places += there.start
        return Suiting(at, counts, places, chord2.reshape(-1).take(at))

    def _compare_ages(self, suits: NDArray[np.bool_], block: Block) -> None:
        """Leave the pairs in which the candidate accepts the receiver's age."""
        years = self.years[block.members]
        least, most = self.list.min_ages[block.places], self.list.max_ages[block.places]
        if least.max(initial=0) > years.min():
            suits &= least <= years[:, np.newaxis]
        oldest = years.max()
        if most.min(initial=oldest) < oldest:
            suits &= most >= years[:, np.newaxis]

    def _compare_ranges(self, suits: NDArray[np.bool_], block: Block) -> None:
        """Leave the pairs in which the receiver checks the candidate."""
        firsts, lasts = self.ranges.firsts[block.members], self.ranges.lasts[block.members]
        steps = np.arange(block.first, block.last, dtype=np.int32)
        if firsts.max() > block.first:
            suits &= steps >= firsts[:, np.newaxis]
        if lasts.min() < block.last:
            suits &= steps < lasts[:, np.newaxis]


class Marks:
    """Some pairs of a receiver of a group and a place of its list."""

    def __init__(self, which: Ints, places: Ints) -> None:
        """`which` are positions of the receivers. A place of -1 is none."""
        order = np.argsort(which, kind="stable")
        order = order[places.take(order) >= 0]
        self._which, self._places = which.take(order), places.take(order)

    def within(self, block: Block) -> Ints:
        """The positions of the pairs in a block, row by row."""
        if not len(self._which):
            return self._which
        first, last = np.searchsorted(self._which, (block.members.start, block.members.stop))
        which = self._which[first:last] - block.members.start
        steps, rest = np.divmod(self._places[first:last] - block.phase, block.every)
        steps -= block.first
        inside = (rest == 0) & (steps >= 0) & (steps < block.width)
        found: Ints = (which * block.width + steps)[inside]
        return found
