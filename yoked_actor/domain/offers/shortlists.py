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

from yoked_actor.domain.offers.blocks import Block, Ranges
from yoked_actor.domain.offers.candidates import Candidates, Listed, Place
from yoked_actor.domain.offers.columns import Columns, Numbers, Rows
from yoked_actor.domain.offers.scoring import ONE, Ints, Scorer, content

LENGTH = 256
"""The most candidates on a shortlist. Popular users are taken early, and to search the whole list
again costs more than a long shortlist."""
_MOST_KEYS = 8_000_000
"""On all shortlists: if there are many, they are shorter."""
_COMPARED_AT_ONCE = 1 << 15
"""Pairs of a receiver and a candidate: their columns fit into the cache of a processor."""
_BITS = 32
_LAST = (1 << _BITS) - 1
"""The highest number of a person."""
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


def keys_of(scores: Ints, numbers: Ints) -> Ints:
    """Keys that order candidates: by score, then by the lowest number, which is the lowest id."""
    keys: Ints = (scores.astype(np.int64) << _BITS) + (_LAST - numbers)
    return keys


def read_key(key: int) -> tuple[int, int]:
    """The number and the score of a key."""
    return _LAST - (key & _LAST), key >> _BITS


def best_keys(keys: Ints, count: int) -> Ints:
    """The highest keys of each row, the highest first. All keys of a row differ."""
    length = keys.shape[-1]
    if length > count:
        keys = np.partition(keys, length - count)[..., length - count :]
    best: Ints = np.sort(keys)[..., ::-1]
    return best


class _Marks:
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


class _Group:
    """Receivers who share a list, and the columns of the list, each in its order."""

    def __init__(
        self,
        columns: Columns,
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
        self.positions, self.ones = positions.take(order), ones.take(order)
        self.years = columns.years.take(self.ones).astype(np.int16)
        self.wishes = columns.wishes.take(self.ones)
        factors, summands = columns.toward(self.ones)
        self.toward = np.column_stack((factors, summands))
        which, rows = columns.all_kept_apart(self.ones)
        self.apart = _Marks(which, places.take(rows))
        which, rows = columns.all_accepted_by(self.ones)
        self.accepted = _Marks(which, places.take(rows))
        self.rows = listed.rows
        self.globe = np.column_stack(
            (columns.globe.take(self.rows, axis=0), np.ones(len(self.rows)))
        ).T
        self.reaches = columns.reaches.take(self.rows)
        self.min_ages = columns.min_ages.take(self.rows)
        self.max_ages = columns.max_ages.take(self.rows)


class _Suiting(msgspec.Struct, frozen=True, gc=False):
    """The pairs of a block in which the candidate may be offered to the receiver, row by row."""

    at: Ints
    """Their positions in the block."""
    counts: Ints
    """How many there are of each receiver."""
    which: Ints
    """The receiver of each."""
    rows: Rows
    """The candidate of each."""
    chord2: NDArray[np.float64]
    narrower: NDArray[np.float64]
    """The squared chord of the narrower of both limits."""


class Shortlister:
    """Makes shortlists for receivers, who are named by their number in the pool."""

    def __init__(self, columns: Columns, candidates: Candidates, scorer: Scorer) -> None:
        self._columns = columns
        self._candidates = candidates
        self._scorer = scorer
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
        places: dict[Place, list[int]] = {}
        for position, (_, one) in enumerate(receivers):
            place = self._candidates.place_of(one, self._columns.people[one].max_distance_km)
            places.setdefault(place, []).append(position)
        length = max(1, min(LENGTH, _MOST_KEYS // max(count, 1)))
        made = Shortlists(
            np.full((count, length), _NO_KEY, np.int64),
            np.zeros(count, np.bool_),
            np.zeros(count, np.bool_),
        )
        for place, members in places.items():
            listed = self._candidates.listed(place)
            self._places[listed.rows] = np.arange(len(listed.rows))
            here = np.array(members, np.int64)
            group = _Group(
                *(self._columns, listed, here, ones.take(here), seeds.take(here), self._places)
            )
            for block in group.ranges.blocks(_COMPARED_AT_ONCE):
                self._fill(made, group, block)
                breathe(block.members.stop - block.members.start)
            self._places[listed.rows] = -1
        return made

    def _fill(self, made: Shortlists, group: _Group, block: Block) -> None:
        """Fill in the shortlists of the receivers of a block."""
        positions = group.positions[block.members]
        made.complete[positions] = block.every == 1
        suiting = _suiting(group, block)
        length = made.keys.shape[1]
        made.is_all[positions] = suiting.counts <= length
        longest = int(suiting.counts.max(initial=0))
        if not longest:
            return
        # A row for each receiver, filled up at its end.
        keys = np.full((len(positions), longest), _NO_KEY, np.int64)
        skipped = np.arange(len(positions)) * longest - (np.cumsum(suiting.counts) - suiting.counts)
        at = np.arange(len(suiting.which)) + skipped.take(suiting.which)
        keys.reshape(-1)[at] = self._keys(group, block, suiting)
        best = best_keys(keys, length)
        made.keys[positions, : best.shape[1]] = best

    def _keys(self, group: _Group, block: Block, suiting: _Suiting) -> Ints:
        """Score the candidates of a block."""
        columns = self._columns
        ones, numbers = group.ones[block.members], columns.numbers.take(suiting.rows)
        # Relative to the narrower of both preferences, so that both get the same points.
        share = np.sqrt(suiting.chord2 / np.maximum(suiting.narrower, 1))
        lost = np.minimum(share * ONE, ONE).astype(np.int32)
        mine = group.years[block.members].take(suiting.which)
        years = np.abs(columns.ages.take(suiting.rows) - mine).astype(np.int32)
        alike = columns.tags.likenesses(columns.rows.take(ones), suiting.which, suiting.rows)
        sure = _NONE_SURE
        accepted = group.accepted.within(block)
        if len(accepted):
            marked = np.zeros(len(ones) * block.width, np.bool_)
            marked[accepted] = True
            sure = marked.take(suiting.at)
        points = content(years, alike, lost)
        scores = self._scorer.scores(ones.take(suiting.which), numbers, points, sure)
        return keys_of(scores, numbers)


def _suiting(group: _Group, block: Block) -> _Suiting:
    """As `Candidates.suiting`, for the receivers of a block and their own limits."""
    members, places, width = block.members, block.places, block.width
    chord2 = group.toward[members] @ np.ascontiguousarray(group.globe[:, places])
    narrower = np.minimum(group.wishes[members, np.newaxis], group.reaches[places])
    years = group.years[members, np.newaxis]
    suits = chord2 <= narrower
    suits &= group.min_ages[places] <= years
    suits &= group.max_ages[places] >= years
    steps = np.arange(block.first, block.last, dtype=np.int32)
    suits &= steps >= group.ranges.firsts[members, np.newaxis]
    suits &= steps < group.ranges.lasts[members, np.newaxis]
    flat = suits.reshape(-1)
    flat[group.apart.within(block)] = False
    at = flat.nonzero()[0]
    counts = np.diff(np.searchsorted(at, np.arange(len(suits) + 1) * width))
    which = np.repeat(np.arange(len(suits)), counts)
    rows = group.rows[places].take(at - which * width)
    return _Suiting(
        *(at, counts, which, rows, chord2.reshape(-1).take(at), narrower.reshape(-1).take(at))
    )
