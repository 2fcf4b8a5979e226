"""Shortlists: the best candidates of many receivers, before their turns (R43).

Who is left decides a set, but not the scores. So the candidates of receivers who share a list are
compared and scored together, block by block, and each receiver gets a shortlist. When the
receiver's turn comes, the best of the shortlist that are left are the set. A set that a shortlist
cannot fill is made from the whole list (`Candidates.suiting`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.offers.blocks import Block
from yoked_actor.domain.offers.candidates import Candidates
from yoked_actor.domain.offers.columns import Columns
from yoked_actor.domain.offers.groups import Group, Suiting
from yoked_actor.domain.offers.packed import Packer
from yoked_actor.domain.offers.scoring import Ints, Scorer

LENGTH = 256
"""The most candidates on a shortlist. Popular users are taken early, and to search the whole list
again costs more than a long shortlist."""
_MOST_KEYS = 8_000_000
"""On all shortlists: if there are many, they are shorter."""
_COMPARED_AT_ONCE = 1 << 15
"""Pairs of a receiver and a candidate: their columns fit into the cache of a processor."""
_NO_KEY = -1
_NONE_SURE = np.zeros(0, np.bool_)


class Shortlists(msgspec.Struct, frozen=True, gc=False):
    """A shortlist of each receiver, in the order in which the receivers were given."""

    keys: Ints
    """A row for each receiver, the best candidate first: see `keys_of`. Then -1."""
    is_all: NDArray[np.bool_]
    """Whether no candidate that was checked is left out."""
    complete: NDArray[np.bool_]
    """Whether all candidates were checked."""


class Shortlister:
    """Makes shortlists for receivers, who are named by their number in the pool."""

    def __init__(self, columns: Columns, candidates: Candidates, scorer: Scorer) -> None:
        self._columns = columns
        self._candidates = candidates
        self._packer = Packer(columns, scorer)
        # The place of each row in the present list, or -1.
        self._places = np.full(len(columns.people), -1, np.int64)

    def make(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> Shortlists:
        """The shortlists of receivers, given as (seed, number).

        `breathe` is called often, with the number of receivers since the last call.
        """
        count = len(receivers)
        seeds = np.array([seed for seed, _ in receivers], np.uint64)
        ones = np.array([one for _, one in receivers], np.int64)
        length = max(1, min(LENGTH, _MOST_KEYS // max(count, 1)))
        made = Shortlists(
            np.full((count, length), _NO_KEY, np.int64),
            np.zeros(count, np.bool_),
            np.zeros(count, np.bool_),
        )
        for place, here in self._candidates.by_place(ones):
            listed = self._candidates.listed(place)
            self._places[listed.rows] = np.arange(len(listed.rows))
            group = Group(
                self._columns,
                self._packer,
                listed,
                here,
                ones.take(here),
                seeds.take(here),
                self._places,
            )
            for block in group.ranges.blocks(_COMPARED_AT_ONCE):
                self._fill(made, group, block)
                breathe(block.members.stop - block.members.start)
            self._places[listed.rows] = -1
        return made

    def _fill(self, made: Shortlists, group: Group, block: Block) -> None:
        """Fill in the shortlists of the receivers of a block."""
        positions = group.positions[block.members]
        made.complete[positions] = block.every == 1
        suiting = group.suiting(block)
        length = made.keys.shape[1]
        made.is_all[positions] = suiting.counts <= length
        keys = self._keys(group, block, suiting)
        # Row by row, in place: to make a rectangle of them takes longer.
        first = 0
        for position, count in zip(positions.tolist(), suiting.counts.tolist(), strict=True):
            best = keys[first : first + count]
            if count > length:
                best.partition(count - length)
                best = best[count - length :]
            best.sort()
            made.keys[position, : len(best)] = best[::-1]
            first += count

    def _keys(self, group: Group, block: Block, suiting: Suiting) -> Ints:
        """Score the candidates of a block."""
        here = block.members
        at, counts = suiting.places, suiting.counts
        ones = group.packed[:, here].repeat(counts, axis=1)
        others = suiting.packed.take(at, axis=1)
        tags = self._columns.tags
        rare = None
        if tags.has_rare:
            rare = tags.rare(group.rows[here], counts, group.listed[block.places].take(at))
        sure = _NONE_SURE
        accepted = group.accepted.within(block)
        if len(accepted):
            marked = np.zeros(len(counts) * block.width, np.bool_)
            marked[accepted] = True
            sure = marked.take(suiting.at)
        return self._packer.keys(ones, others, suiting.shares, rare, sure)
