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
from yoked_actor.domain.offers.packed import FLOATS, GLOBE, Packer
from yoked_actor.domain.offers.scoring import Ints

_STEPS = np.arange(1 << 15, dtype=np.int16)


class Suiting(msgspec.Struct, frozen=True, gc=False):
    """The pairs of a block in which the candidate may be offered to the receiver, row by row."""

    at: Ints
    """Their positions in the block."""
    counts: Ints
    """How many there are of each receiver."""
    places: Ints
    """The candidate of each, as a place of the block."""
    shares: NDArray[np.float64]
    """The distances, as shares of the narrower of both limits."""
    packed: Ints
    """What the scores need of the candidates of the block: see `Packer`."""


class Group:
    """The receivers of one list, in the order of their blocks."""

    def __init__(
        self,
        columns: Columns,
        packer: Packer,
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
        self._years = columns.years.take(ones).astype(np.int16)
        self._wishes = columns.wishes.take(ones)
        self._same_wish = bool((self._wishes == self._wishes[:1]).all())
        self.packed = packer.ones.take(self.rows, axis=0).T
        factors, summands = columns.toward(ones)
        self._toward = np.column_stack((factors, summands))
        which, rows = columns.all_kept_apart(ones)
        self._apart = Marks(which, places.take(rows))
        which, rows = columns.all_accepted_by(ones)
        self.accepted = Marks(which, places.take(rows))
        # In the order of the list, so that the values of neighbours are next to each other.
        self.listed: Rows = listed.rows
        self._others = packer.others.take(listed.rows, axis=0)
        self._min_ages = columns.min_ages.take(listed.rows)
        self._max_ages = columns.max_ages.take(listed.rows)
        youngest, oldest = self._years.min(), self._years.max()
        self._some_too_young = self._min_ages.max(initial=youngest) > youngest
        self._some_too_old = self._max_ages.min(initial=oldest) < oldest

    def suiting(self, block: Block) -> Suiting:
        """As `Candidates.suiting`, for the receivers of a block and their own limits."""
        others = np.ascontiguousarray(self._others[block.places].T)
        floats = others[:FLOATS].view(np.float64)
        chord2 = self._toward[block.members] @ floats[:GLOBE]
        limits = self._limits(block, floats[GLOBE])
        suits = chord2 <= limits
        self._compare_ages(suits, block)
        self._compare_ranges(suits, block)
        flat = suits.reshape(-1)
        flat[self._apart.within(block)] = False
        at = flat.nonzero()[0]
        starts = np.arange(len(suits) + 1) * block.width
        edges = at.searchsorted(starts)
        counts = edges[1:] - edges[:-1]
        places = at - starts[:-1].repeat(counts)
        # Relative to the narrower of both preferences, so that both get the same points.
        narrower = np.maximum(limits, 1)
        shares = chord2.reshape(-1).take(at)
        shares /= narrower.take(places) if narrower.ndim == 1 else narrower.reshape(-1).take(at)
        return Suiting(at, counts, places, np.sqrt(shares, out=shares), others[FLOATS:])

    def _limits(self, block: Block, reaches: NDArray[np.float64]) -> NDArray[np.float64]:
        """The narrower limits of both sides: of each place, or of each pair if receivers differ."""
        wishes = self._wishes[block.members]
        narrower: NDArray[np.float64] = np.minimum(
            reaches, wishes[0] if self._same_wish else wishes[:, np.newaxis]
        )
        return narrower

    def _compare_ages(self, suits: NDArray[np.bool_], block: Block) -> None:
        """Leave the pairs in which the candidate accepts the receiver's age."""
        years = self._years[block.members, np.newaxis]
        # NumPy compares contiguous values faster.
        if self._some_too_young:
            suits &= np.ascontiguousarray(self._min_ages[block.places]) <= years
        if self._some_too_old:
            suits &= np.ascontiguousarray(self._max_ages[block.places]) >= years

    def _compare_ranges(self, suits: NDArray[np.bool_], block: Block) -> None:
        """Leave the pairs in which the receiver checks the candidate."""
        firsts, lasts = self.ranges.firsts[block.members], self.ranges.lasts[block.members]
        # The width of a block fits into 16 bits: many members have few places, and one checks
        # `MOST_CHECKED` at most.
        steps = _STEPS[: block.width]
        if firsts[-1] > block.first:  # they are in ascending order
            suits &= steps >= (firsts - block.first).astype(np.int16)[:, np.newaxis]
        if lasts.min() < block.last:
            suits &= steps < (lasts - block.first).astype(np.int16)[:, np.newaxis]


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
