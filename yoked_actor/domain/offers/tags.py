"""The tags of people as bits, for a fast likeness of one person with many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.offers.scoring import Ints, likeness

_WORDS = 4
_COMMON_TAGS = 64 * _WORDS
"""So many tags are bits of words; each other tag has a list of its rows."""


class Tags:
    """The tags of all rows."""

    def __init__(self, interests: Sequence[tuple[str, ...]]) -> None:
        named = Counter(tag for tags in interests for tag in tags)
        common = sorted((tag for tag in named if named[tag] > 1), key=lambda t: (-named[t], t))
        bits = {tag: bit for bit, tag in enumerate(common[:_COMMON_TAGS])}
        rest = frozenset(common[_COMMON_TAGS:])
        count = len(interests)
        self._counts = np.fromiter((len(tags) for tags in interests), np.int64, count)
        self._rest: list[tuple[str, ...]] = []
        words, who = [], {tag: list[int]() for tag in rest}
        for row, tags in enumerate(interests):
            word = 0
            rare = []
            for tag in tags:
                if tag in bits:
                    word |= 1 << bits[tag]
                elif tag in rest:
                    rare.append(tag)
                    who[tag].append(row)
            words.append(word.to_bytes(8 * _WORDS, "little"))
            self._rest.append(tuple(rare))
        by_person = np.frombuffer(b"".join(words), "<u8").reshape(count, _WORDS)
        # A word in which nobody has a tag is not compared.
        self._words = [words for words in np.ascontiguousarray(by_person.T) if words.any()]
        self._who = {tag: np.array(rows, np.int64) for tag, rows in who.items()}
        self._marked = np.zeros(count, np.bool_)

    def likenesses(self, ones: Sequence[int], lengths: Sequence[int], others: Ints) -> Ints:
        """`likeness` for several rows: the first `lengths[0]` of the others are of the first."""
        each = np.repeat(np.array(ones, np.int64), lengths)
        shared = np.zeros(len(others), np.int64)
        for words in self._words:
            shared += np.bitwise_count(words.take(each) & words.take(others))
        first = 0
        for one, length in zip(ones, lengths, strict=True):
            here = slice(first, first + length)
            for tag in self._rest[one]:
                shared[here] += self._is_in(tag, others[here])
            first += length
        alike: Ints = likeness(shared, self._counts.take(each), self._counts.take(others))
        return alike

    def likeness(self, one: int, others: Ints) -> Ints:
        """The likeness of the tags of one row with those of others."""
        shared = np.zeros(len(others), np.int64)
        for words in self._words:
            mine = words[one]
            if mine:
                shared += np.bitwise_count(words.take(others) & mine)
        for tag in self._rest[one]:
            shared += self._is_in(tag, others)
        alike: Ints = likeness(shared, int(self._counts[one]), self._counts.take(others))
        return alike

    def _is_in(self, tag: str, rows: Ints) -> NDArray[np.bool_]:
        """Which of these rows have a tag that is not a bit."""
        self._marked[self._who[tag]] = True
        found = self._marked.take(rows)
        self._marked[self._who[tag]] = False
        return found
