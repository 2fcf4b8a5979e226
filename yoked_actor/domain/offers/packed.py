"""What a run compares and scores of people, packed: a row of integers for each of them.

A run scores a hundred million pairs, and most of the time goes into copying the values of the two
people of each pair. So all values of a person are copied in one operation, and all values that are
added for a pair are added in one operation.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.offers.columns import Columns
from yoked_actor.domain.offers.keys import BITS, LAST
from yoked_actor.domain.offers.scoring import (
    MOST_YEARS,
    YEAR,
    Ints,
    Scorer,
    content,
    distance_cost,
    likeness,
)

_AGE_BITS = 16
"""A code is the number of a person's tags, shifted by so many bits, and the age."""
_ANY_AGE = (1 << _AGE_BITS) - 1
GLOBE = 5
"""So many columns of candidates are a position, as floats: see `Columns.toward`. Then the reach."""
FLOATS = GLOBE + 1


class Packer:
    """Packs what the scores need of people, and computes keys from it.

    The columns are a code, the traits of the scorer, and words of tags. The codes and traits of two
    people are added, and of their words the common bits are counted. Candidates have floats before
    them, and a key part after them.
    """

    def __init__(self, columns: Columns, scorer: Scorer) -> None:
        self._scorer = scorer
        tags, numbers = columns.tags, columns.numbers
        self._words = len(tags.words)
        self._sizes = _by_sizes(int(tags.counts.max(initial=0)))
        # The years between a receiver and a candidate are counted from the least difference.
        oldest = int(columns.years.max(initial=0))
        years = np.abs(np.arange(-oldest, oldest + 1))
        self._years = YEAR * np.minimum(years, MOST_YEARS)
        ages, sizes = columns.years.take(numbers), tags.counts << _AGE_BITS
        words = tags.words.view(np.int64)
        ones = (sizes + oldest - ages, *scorer.traits(numbers), *words)
        self.ones: Ints = np.column_stack(ones)
        """Of all people as receivers, by row."""
        floats = np.column_stack((columns.globe, np.ones(len(numbers)), columns.reaches))
        others = (sizes + ages, *scorer.their_traits(numbers), *words, LAST - numbers)
        self.others: Ints = np.column_stack((floats.view(np.int64), *others))
        """Of all people as candidates, by row."""

    def keys(
        self,
        ones: Ints,
        others: Ints,
        shares: NDArray[np.float64],
        rare: Ints | None,
        sure: NDArray[np.bool_],
    ) -> Ints:
        """The keys of pairs, whose packed values are changed: a row for each kind of value.

        `shares` are their distances as shares of the narrower of both limits, and `rare` is how
        many tags they share that are not in the words; None is none.
        """
        added = len(ones) - self._words
        sums, common = others[:added], others[added:-1]
        sums += ones[:added]
        common &= ones[added:]
        shared = _count_bits(common.view(np.uint64))
        if rare is not None:
            shared += rare
        points = self._content(sums[0], shared)
        points -= distance_cost(shares)
        keys = self._scorer.joint_scores(sums[1:], points, sure)
        keys <<= BITS
        keys += others[-1]
        return keys

    def _content(self, codes: Ints, shared: Ints) -> Ints:
        """The points of content, without what a distance costs."""
        shared *= self._sizes.shape[1]
        shared += codes >> _AGE_BITS
        codes &= _ANY_AGE
        points = self._sizes.take(shared)
        points -= self._years.take(codes)
        return points


def _count_bits(words: NDArray[np.uint64]) -> Ints:
    """How many bits are set in the words of each column."""
    counts = np.bitwise_count(words)
    # One word is the usual case, and a sum of one takes longer.
    found: Ints = (
        counts[0].astype(np.int64) if len(counts) == 1 else counts.sum(axis=0, dtype=np.int64)
    )
    return found


def _by_sizes(most: int) -> Ints:
    """The points of two people, by how many tags they share and how many they have in all."""
    shared = np.arange(most + 1, dtype=np.int64)[:, np.newaxis]
    # Where more are shared than there are, any divisor will do.
    both = np.maximum(np.arange(2 * most + 1), shared)
    table: Ints = content(0, likeness(shared, both, 0), 0)
    return table
