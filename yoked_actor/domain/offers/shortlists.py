"""Shortlists: the best candidates of many receivers, before their turns (R43).

Who is left decides a set, but not the scores. So the candidates of receivers who share a list are
scored together, from columns that are read once for the list, and each receiver gets a shortlist.
When the receiver's turn comes, the best of the shortlist that are left are the set. A set that a
shortlist cannot fill is made from the whole list (`Candidates.suiting`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers.candidates import Candidates, Listed, Place
from yoked_actor.domain.offers.columns import Columns, Rows
from yoked_actor.domain.offers.scoring import ONE, Ints, Scorer, content

LENGTH = 32
"""The most candidates on a shortlist."""
_SCORED_AT_ONCE = 1 << 15
"""Candidates that are scored together: their columns fit into the cache of a processor."""
_MOST_PEOPLE = 1 << 32


class Shortlist(msgspec.Struct, frozen=True, gc=False):
    """The best candidates of one receiver."""

    keys: Ints
    """The best first: see `keys_of`."""
    is_all: bool
    """Whether no candidate that was checked is left out."""
    complete: bool
    """Whether all candidates were checked."""


def keys_of(scores: Ints, numbers: Ints) -> Ints:
    """Keys that order candidates: by score, then by the lowest number, which is the lowest id."""
    keys: Ints = scores * _MOST_PEOPLE + (_MOST_PEOPLE - 1 - numbers)
    return keys


def read_key(key: int) -> tuple[int, int]:
    """The number and the score of a key."""
    score, rest = divmod(key, _MOST_PEOPLE)
    return _MOST_PEOPLE - 1 - rest, score


def best_keys(keys: Ints, count: int) -> Ints:
    """The highest keys, the highest first. All keys differ."""
    if len(keys) > count:
        keys = np.partition(keys, len(keys) - count)[len(keys) - count :]
    best: Ints = np.sort(keys)[::-1]
    return best


class _Suiting(msgspec.Struct, frozen=True, gc=False):
    """The candidates that one receiver may be offered."""

    one: int
    places: Rows
    """In the list."""
    chord2: NDArray[np.float64]
    narrower: NDArray[np.float64]
    """The squared chord of the narrower of both limits."""
    complete: bool


class _Columns:
    """The columns of one list of candidates, in its order."""

    def __init__(self, columns: Columns, listed: Listed) -> None:
        rows = listed.rows
        self.listed = listed
        self.globe = columns.globe.take(rows, axis=0)
        self.reaches = columns.reaches.take(rows)
        self.min_ages = columns.min_ages.take(rows)
        self.max_ages = columns.max_ages.take(rows)


class Shortlists:
    """Makes shortlists for receivers, who are named by their number in the pool."""

    def __init__(
        self, columns: Columns, candidates: Candidates, scorer: Scorer, tiers: Tiers
    ) -> None:
        self._columns = columns
        self._candidates = candidates
        self._scorer = scorer
        self._tiers = tiers
        self._years = np.array(columns.years, np.int64)
        # The place of each row in the present list, or -1.
        self._places = np.full(len(columns.people), -1, np.int64)

    def make(
        self, receivers: Sequence[tuple[int, int]], breathe: Callable[[int], None]
    ) -> dict[int, Shortlist]:
        """The shortlists of receivers, given as (seed, number).

        `breathe` is called often, with the number of receivers since the last call.
        """
        groups: dict[Place, list[tuple[int, int]]] = {}
        for seed, one in receivers:
            place = self._candidates.place_of(one, self._columns.people[one].max_distance_km)
            groups.setdefault(place, []).append((seed, one))
        made: dict[int, Shortlist] = {}
        for place, members in groups.items():
            listed = self._candidates.listed(place)
            self._places[listed.rows] = np.arange(len(listed.rows))
            for part in _in_parts(self._suiting(_Columns(self._columns, listed), members)):
                made.update(self._score(listed.rows, part))
                breathe(len(part))
            self._places[listed.rows] = -1
        return made

    def _suiting(self, near: _Columns, members: Sequence[tuple[int, int]]) -> Iterator[_Suiting]:
        """As `Candidates.suiting`, for receivers of one list and their own limits."""
        columns = self._columns
        for seed, one in members:
            limits = self._tiers.limits(columns.people[one], Tier.EXACT)
            which = near.listed.checked(limits, seed)
            toward, square = columns.toward(one)
            chord2 = near.globe[which].dot(toward) + square
            narrower = np.minimum(near.reaches[which], columns.wishes[one])
            suits = chord2 <= narrower
            suits &= near.min_ages[which] <= columns.years[one]
            suits &= near.max_ages[which] >= columns.years[one]
            suits[self._among(columns.kept_apart(one), which)] = False
            at = suits.nonzero()[0]
            yield _Suiting(
                *(one, at * which.step + which.start, chord2.take(at), narrower.take(at)),
                which.step == 1,
            )

    def _among(self, rows: Rows, which: slice) -> Rows:
        """The positions of rows among the checked places of the present list."""
        places = self._places.take(rows)
        places = places[(places >= which.start) & (places < which.stop)] - which.start
        found: Rows = places[places % which.step == 0] // which.step
        return found

    def _score(self, rows: Rows, part: Sequence[_Suiting]) -> Iterator[tuple[int, Shortlist]]:
        """Score the candidates of some receivers, and take the best of each."""
        columns = self._columns
        lengths = [len(one.places) for one in part]
        others = rows.take(np.concatenate([one.places for one in part]))
        numbers = columns.numbers.take(others)
        ones = np.repeat(np.array([one.one for one in part], np.int64), lengths)
        # Relative to the narrower of both preferences, so that both get the same points.
        narrower = np.maximum(np.concatenate([one.narrower for one in part]), 1)
        chord2 = np.concatenate([one.chord2 for one in part])
        lost = np.minimum(np.sqrt(chord2 / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(self._years.take(numbers) - self._years.take(ones))
        receivers = [int(columns.rows[one.one]) for one in part]
        alike = columns.tags.likenesses(receivers, lengths, others)
        scores = self._scorer.scores(
            ones, numbers, content(years, alike, lost), self._sure(part, numbers, lengths)
        )
        keys, first = keys_of(scores, numbers), 0
        for one, length in zip(part, lengths, strict=True):
            best = best_keys(keys[first : first + length], LENGTH)
            first += length
            yield one.one, Shortlist(best.copy(), length <= LENGTH, one.complete)

    def _sure(
        self, part: Sequence[_Suiting], numbers: Ints, lengths: Sequence[int]
    ) -> NDArray[np.bool_]:
        """Which candidates have accepted an offer of their receiver."""
        sure, first = np.zeros(len(numbers), np.bool_), 0
        for one, length in zip(part, lengths, strict=True):
            found = self._candidates.sure(one.one, numbers[first : first + length])
            if len(found):
                sure[first : first + length] = found
            first += length
        return sure


def _in_parts(suiting: Iterator[_Suiting]) -> Iterator[list[_Suiting]]:
    part: list[_Suiting] = []
    candidates = 0
    for one in suiting:
        part.append(one)
        candidates += len(one.places)
        if candidates >= _SCORED_AT_ONCE:
            yield part
            part, candidates = [], 0
    if part:
        yield part
