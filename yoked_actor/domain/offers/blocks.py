"""Blocks: receivers of one place whose candidates are compared in one operation.

The candidates that a receiver checks are every n-th place of a list, from a start. So receivers
with the same n, and starts that differ by a multiple of n, check ranges of one shorter list. Some
of them make a block: a rectangle of receivers and of the places that any of them checks.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from yoked_actor.domain.offers.scoring import Ints


class Block(msgspec.Struct, frozen=True, gc=False):
    """Some receivers, and a range of every n-th place."""

    members: slice
    """The receivers, in the order of `Ranges.order`."""
    every: int
    phase: int
    """The first place of the shorter list."""
    first: int
    last: int
    """The range in the shorter list; the last one is not included."""

    @property
    def width(self) -> int:
        """How many places it has for each receiver."""
        return self.last - self.first

    @property
    def places(self) -> slice:
        """Its places in the whole list."""
        start = self.phase + self.first * self.every
        return slice(start, start + self.width * self.every, self.every)


class Ranges:
    """The places that receivers of one list check, sorted by what can be in one block."""

    def __init__(self, starts: Ints, stops: Ints, every: Ints) -> None:
        """Each receiver checks the places `range(start, stop, every)`."""
        phases = starts % every
        firsts, lasts = starts // every, -((phases - stops) // every)
        self.order: Ints = np.lexsort((lasts, firsts, phases, every))
        """The receivers as they are in blocks."""
        self.every, self.phases = every.take(self.order), phases.take(self.order)
        self.firsts = firsts.take(self.order).astype(np.int32)
        self.lasts = np.maximum(lasts.take(self.order).astype(np.int32), self.firsts)

    def blocks(self, most: int) -> Iterator[Block]:
        """Blocks of all receivers, each of at most `most` places in all, or of one receiver."""
        begin, last = 0, 0
        kind, first = (0, 0), 0
        columns = (self.every, self.phases, self.firsts, self.lasts)
        listed = zip(*(column.tolist() for column in columns), strict=True)
        at = -1
        for at, (every, phase, from_here, to_here) in enumerate(listed):
            wider = max(last, to_here)
            if (every, phase) == kind and (at + 1 - begin) * (wider - first) <= most:
                last = wider
                continue
            if at:
                yield Block(slice(begin, at), *kind, first, last)
            begin, kind, first, last = at, (every, phase), from_here, to_here
        if at >= 0:
            yield Block(slice(begin, at + 1), *kind, first, last)
