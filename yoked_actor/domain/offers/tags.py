"""The tags of people as bits, for a fast likeness of one person with many."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.offers.breathing import Breathe, breathing, never
from yoked_actor.domain.offers.scoring import Ints, likeness

_WORDS = 4
_COMMON_TAGS = 64 * _WORDS
"""So many tags are bits of words; each other tag has a list of its rows."""
_MOST_NAMES = 100_000


class Tags:
    """The tags of all rows."""

    def __init__(self, interests: Sequence[tuple[str, ...]], breathe: Breathe = never) -> None:
        """`breathe` is called often."""
        flat = list(chain.from_iterable(breathing(interests, breathe)))
        seen: dict[str, int] = {}
        as_seen = np.fromiter(
            (seen.setdefault(tag, len(seen)) for tag in breathing(flat, breathe)),
            np.int64,
            len(flat),
        )
        named = np.bincount(as_seen, minlength=len(seen)).tolist()
        common = sorted(
            (tag for tag in seen if named[seen[tag]] > 1), key=lambda t: (-named[seen[t]], t)
        )
        codes = np.full(len(seen), -1, np.int64)
        codes[[seen[tag] for tag in common]] = np.arange(len(common))
        coded = codes.take(as_seen)
        count = len(interests)
        self.counts: Ints = np.fromiter(map(len, interests), np.int64, count)
        rows = np.arange(count).repeat(self.counts)
        # A word in which nobody has a tag is not compared.
        words = (_word(number, coded, rows, count) for number in range(_WORDS))
        used = [word for word in words if word.any()]
        self.words = np.array(used, np.uint64).reshape(len(used), count)
        """The common tags of each row, as bits of some words."""
        self._rest: list[tuple[str, ...]] = [()] * count
        who = {tag: list[int]() for tag in common[_COMMON_TAGS:]}
        for at in (coded >= _COMMON_TAGS).nonzero()[0].tolist():
            row, tag = int(rows[at]), flat[at]
            self._rest[row] += (tag,)
            who[tag].append(row)
        self._who = {tag: np.array(found, np.int64) for tag, found in who.items()}
        self._marked = np.zeros(count, np.bool_)
        self._common = common[:_COMMON_TAGS]
        # Many pairs share the same few tags.
        self._names: dict[tuple[int, ...], tuple[str, ...]] = {}

    @property
    def has_rare(self) -> bool:
        """Whether there are tags that are not bits."""
        return bool(self._who)

    def rare(self, ones: Ints, counts: Ints, others: Ints) -> Ints:
        """How many tags that are not bits several rows share.

        Each of `ones` with as many of the others as `counts` says, first all of the first one.
        """
        shared = np.zeros(len(others), np.int64)
        last = 0
        for one, count in zip(ones.tolist(), counts.tolist(), strict=True):
            here = slice(last, last + count)
            last += count
            for tag in self._rest[one]:
                shared[here] += self._is_in(tag, others[here])
        return shared

    def likeness(self, one: int, others: Ints) -> Ints:
        """The likeness of the tags of one row with those of others."""
        shared = np.zeros(len(others), np.int64)
        for words in self.words:
            mine = words[one]
            if mine:
                shared += np.bitwise_count(words.take(others) & mine)
        for tag in self._rest[one]:
            shared += self._is_in(tag, others)
        alike: Ints = likeness(shared, int(self.counts[one]), self.counts.take(others))
        return alike

    def shared(self, ones: Ints, others: Ints) -> list[tuple[str, ...]]:
        """The tags that the rows of each pair share, in ascending order."""
        if len(self._names) > _MOST_NAMES:
            self._names.clear()
        both = [(words.take(ones) & words.take(others)).tolist() for words in self.words]
        # Most pairs share no tag: then all words are zero.
        find, none = self._names.get, (0,) * len(both)
        found = [
            () if words == none else find(words) or self._name(words)
            for words in zip(*both, strict=True)
        ]
        if not both:
            found = [()] * len(ones)
        if not self._who:
            return found
        for at, (one, other) in enumerate(zip(ones.tolist(), others.tolist(), strict=True)):
            if self._rest[one] and self._rest[other]:
                rare = set(self._rest[one]).intersection(self._rest[other])
                found[at] = tuple(sorted(rare.union(found[at])))
        return found

    def _name(self, words: tuple[int, ...]) -> tuple[str, ...]:
        """The tags of bits, in ascending order."""
        names = []
        for first, word in zip(range(0, _COMMON_TAGS, 64), words, strict=False):
            while word:
                names.append(self._common[first + word.bit_length() - 1])
                word ^= 1 << word.bit_length() - 1
        self._names[words] = found = tuple(sorted(names))
        return found

    def _is_in(self, tag: str, rows: Ints) -> NDArray[np.bool_]:
        """Which of these rows have a tag that is not a bit."""
        self._marked[self._who[tag]] = True
        found = self._marked.take(rows)
        self._marked[self._who[tag]] = False
        return found


def _word(number: int, coded: Ints, rows: Ints, count: int) -> NDArray[np.uint64]:
    """The bits of the common tags with codes from `64 * number` on, for each row."""
    first = 64 * number
    here = ((coded >= first) & (coded < min(first + 64, _COMMON_TAGS))).nonzero()[0]
    word = np.zeros(count, np.uint64)
    bits = np.left_shift(np.uint64(1), (coded.take(here) - first).astype(np.uint64))
    np.bitwise_or.at(word, rows.take(here), bits)
    return word
