"""Daily offers made receiver by receiver, as they were before shortlists.

The test oracle of `make_run`: slow, and without a second way to the same set. Sets that were made
by earlier versions verify as long as both agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain
from math import floor, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import Cell, angles_of, chord_of, haversine_km, unit_vector
from yoked_actor.domain.matching import Limits, Tier, Tiers
from yoked_actor.domain.offers.cells import CELLS, REACHES_KM
from yoked_actor.domain.offers.frozen_pool import (
    FrozenPerson,
    FrozenPool,
    OfferRules,
    pairs_by_first,
    pairs_by_second,
)
from yoked_actor.domain.offers.offer_sets import Offer
from yoked_actor.domain.offers.scoring import ONE, SCORERS, Facts, Ints, Scorer, content, likeness
from yoked_actor.domain.offers.tags import Tags
from yoked_actor.domain.offers.zone_run import receivers_in_order
from yoked_actor.domain.people import ADULT_AGE, age_on
from yoked_actor.domain.time import utc_date

Kind = tuple[str, tuple[str, ...]]
Numbers = NDArray[np.int64]
Rows = NDArray[np.int64]

_GLOBE = 1 << 24
"""The radius of the globe in units of 38 cm."""
_TOO_STRICT = 2
_ANYWHERE = (2.0 * _GLOBE + 4) ** 2
"""More than the largest squared distance of two positions."""
_CLOSED = 32_000
_AGES = np.arange(200, dtype=np.int16)
"""The last one is above every age limit."""
_MOST_LISTED = 15_000_000
MOST_CHECKED = 2048


class Suiting(msgspec.Struct, frozen=True):
    """The candidates of one receiver, with their points of content."""

    numbers: Numbers
    points: Ints
    complete: bool
    """Whether all candidates were checked."""


class _Listed:
    """The candidates near a cell, in ascending order of age."""

    __slots__ = ("_edges", "rows")

    def __init__(self, rows: Rows, ages: NDArray[np.int16]) -> None:
        theirs = ages[rows]
        order = np.argsort(theirs, kind="stable")
        self.rows: Rows = rows[order]
        # For each age, how many are younger.
        self._edges: list[int] = np.searchsorted(theirs[order], _AGES).tolist()

    def aged(self, limits: Limits) -> Rows:
        """The rows whose age is inside the limits."""
        edges, last = self._edges, len(self._edges) - 1
        return self.rows[edges[min(limits.min_age, last)] : edges[min(limits.max_age + 1, last)]]


class Candidates:
    """All candidates of a run. People are named by their number in the pool."""

    def __init__(self, pool: FrozenPool) -> None:
        self._people = people = pool.people
        self._numbers, self._rows = _by_place(people)
        self._apart = pairs_by_first(pool.apart, len(people))
        self._not_again = pairs_by_first(pool.not_again, len(people))
        self._accepted_by = pairs_by_second(pool.accepted, len(people))
        today = utc_date(pool.offered_at)
        self._years = [age_on(person.birth_date, today) for person in people]
        self._angles = [angles_of(person.lat, person.lon) for person in people]
        self._spots = [_on_globe(*angles) for angles in self._angles]
        self._wishes = [_reach2(person.max_distance_km) for person in people]
        # By row:
        in_rows = [people[number] for number in self._numbers]
        count = len(people)
        self._ages = np.array(self._years, np.int16)[self._numbers]
        # A person who is not offered (any more) accepts no age.
        self._min_ages = np.fromiter((min(p.min_age, _CLOSED) for p in in_rows), np.int16, count)
        self._min_ages[self._ages < ADULT_AGE] = _CLOSED
        self._max_ages = np.fromiter((min(p.max_age, _CLOSED) for p in in_rows), np.int16, count)
        # The rows that accept an age, for each age that occurs.
        self._accepting: dict[int, NDArray[np.bool_]] = {}
        self._reaches = np.array(self._wishes, np.float64)[self._numbers]
        spots = np.fromiter(chain.from_iterable(self._spots), np.float64, 4 * count)
        self._globe = spots.reshape(count, 4)[self._numbers]
        self._tags = Tags([person.interests for person in in_rows])
        self._kinds = _by_kind(in_rows)
        self._by_cell: dict[Kind, dict[Cell, Rows]] = {}
        self._listed: dict[tuple[Kind, Cell, int], _Listed] = {}
        self._listed_rows = 0

    def is_adult(self, one: int) -> bool:
        """Whether a person is an adult, and may receive offers."""
        return self._years[one] >= ADULT_AGE

    def close(self, number: int) -> None:
        """Do not offer this person again."""
        row = self._rows[number]
        self._min_ages[row] = _CLOSED
        for accepting in self._accepting.values():
            accepting[row] = False

    def suiting(self, one: int, limits: Limits, taken: list[int], seed: int | None) -> Suiting:
        """All people inside one's limits who accept them, and whom nothing keeps apart from them.

        With a `seed`, which gives the start, at most `MOST_CHECKED` are checked.
        """
        rows = self._around(one, limits.max_km).aged(limits)
        every = 1 if seed is None else -(-len(rows) // MOST_CHECKED)
        if every > 1 and seed is not None:
            rows = np.ascontiguousarray(rows[seed % every :: every])
        rows = rows[self._open_to(one, rows, taken)]
        chord2, reaches = self._chords(one, rows), self._reaches.take(rows)
        inside = (chord2 <= np.minimum(reaches, _reach2(limits.max_km))).nonzero()[0]
        rows, chord2, reaches = rows.take(inside), chord2.take(inside), reaches.take(inside)
        # Relative to the narrower of both preferences, so that both get the same points.
        narrower = np.maximum(np.minimum(reaches, self._wishes[one]), 1)
        lost = np.minimum(np.sqrt(chord2 / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(self._ages.take(rows) - self._years[one]).astype(np.int64)
        points = content(years, self._tags.likeness(int(self._rows[one]), rows), lost)
        return Suiting(self._numbers.take(rows), points, every <= 1)

    def sure(self, one: int, numbers: Numbers) -> NDArray[np.bool_]:
        """Which of these have accepted an offer of this person."""
        accepted_by = self._accepted_by[one]
        if not len(accepted_by):
            return np.zeros(0, np.bool_)
        return np.isin(numbers, accepted_by)

    def facts(self, one: int, other: int) -> Facts:
        """The facts behind the points of two people."""
        a, b = self._people[one], self._people[other]
        x, y, z, _ = self._spots[one]
        their_x, their_y, their_z, _ = self._spots[other]
        chord2 = (x - their_x) ** 2 + (y - their_y) ** 2 + (z - their_z) ** 2
        narrower = max(1.0, min(self._wishes[one], self._wishes[other]))
        shared = tuple(sorted(set(a.interests).intersection(b.interests)))
        km = haversine_km(*self._angles[one], *self._angles[other])
        return Facts(
            abs(self._years[one] - self._years[other]),
            shared,
            likeness(len(shared), len(a.interests), len(b.interests)),
            max(1, -floor(-km)),
            int(min(sqrt(chord2 / narrower) * ONE, ONE)),
        )

    def _chords(self, one: int, rows: Rows) -> NDArray[np.float64]:
        """The squared chords between one person and these rows.

        |a - b|^2 is |b|^2 - 2ab + |a|^2: all integers below 2^53, so that every sum is exact in any
        order.
        """
        x, y, z, square = self._spots[one]
        toward = np.array((-2.0 * x, -2.0 * y, -2.0 * z, 1.0))
        chords: NDArray[np.float64] = self._globe.take(rows, axis=0).dot(toward) + square
        return chords

    def _open_to(self, one: int, rows: Rows, taken: list[int]) -> NDArray[np.bool_]:
        """Which of these rows accept one's age, and are not kept apart from them."""
        age = self._years[one]
        accepting = self._accepting.get(age)
        if accepting is None:
            accepting = (self._min_ages <= age) & (self._max_ages >= age)
            self._accepting[age] = accepting
        kept = self._rows.take(
            np.concatenate((self._apart[one], self._not_again[one], [one, *taken]))
        )
        before = accepting.take(kept)
        accepting[kept] = False
        found = accepting.take(rows)
        accepting[kept] = before
        return found

    def _around(self, one: int, km: float) -> _Listed:
        """The rows of suiting genders in the cells within reach."""
        person = self._people[one]
        kind, cell = (person.gender, person.seeking), CELLS.cell_of(person.lat, person.lon)
        reach = bisect_left(REACHES_KM, km)
        if reach == len(REACHES_KM):
            cell = 0
        listed = self._listed.get((kind, cell, reach))
        if listed is None:
            if self._listed_rows > _MOST_LISTED:
                self._listed.clear()
                self._listed_rows = 0
            listed = self._list(kind, cell, reach)
            self._listed_rows += len(listed.rows)
            self._listed[kind, cell, reach] = listed
        return listed

    def _list(self, kind: Kind, cell: Cell, reach: int) -> _Listed:
        cells = self._by_cell.get(kind)
        if cells is None:
            cells = self._by_cell[kind] = self._cells(kind)
        if reach == len(REACHES_KM):
            near = list(cells.values())
        else:
            within = CELLS.around_cell(cell, REACHES_KM[reach])
            near = [cells[one] for one in within if one in cells]
        return _Listed(np.concatenate([np.empty(0, np.int64), *near]), self._ages)

    def _cells(self, kind: Kind) -> dict[Cell, Rows]:
        gender, seeking = kind
        found: dict[Cell, list[int]] = {}
        for (other, sought), rows in self._kinds.items():
            if other in seeking and gender in sought:
                for row in rows:
                    person = self._people[self._numbers[row]]
                    found.setdefault(CELLS.cell_of(person.lat, person.lon), []).append(row)
        return {cell: np.array(rows, np.int64) for cell, rows in found.items()}


def _by_place(people: Sequence[FrozenPerson]) -> tuple[Numbers, Rows]:
    """The number of each row and the row of each number; rows are in the order of cells."""
    cells = (CELLS.cell_of(person.lat, person.lon) for person in people)
    numbers = np.argsort(np.fromiter(cells, np.int64, len(people)), kind="stable")
    rows = np.empty_like(numbers)
    rows[numbers] = np.arange(len(people))
    return numbers, rows


def _by_kind(people: Sequence[FrozenPerson]) -> dict[Kind, list[int]]:
    kinds: dict[Kind, list[int]] = {}
    for row, person in enumerate(people):
        kinds.setdefault((person.gender, person.seeking), []).append(row)
    return kinds


def _on_globe(lat: float, cos_lat: float, lon: float) -> tuple[int, int, int, int]:
    """A position in integer units, and the square of its distance from the centre."""
    x, y, z = (round(_GLOBE * one) for one in unit_vector(lat, cos_lat, lon))
    return x, y, z, x * x + y * y + z * z


def _reach2(km: float) -> float:
    """The squared chord of a distance, in integer units."""
    return float(floor(min(max(0.0, _GLOBE * chord_of(km) - _TOO_STRICT) ** 2, _ANYWHERE)))


_BY_TIERS = (Tier.EXACT, Tier.WIDER, Tier.WIDEST)
_MOST_PEOPLE = 1 << 32


def plain_run(pool: FrozenPool, rules: OfferRules) -> dict[str, tuple[Offer, ...]]:
    """The offers of each receiver."""
    run = _Run(pool, rules)
    return {
        pool.people[number].user_id: run.choose(number, seed)
        for seed, number in receivers_in_order(pool)
    }


class _Run:
    """A run in progress: the candidates that are left."""

    def __init__(self, pool: FrozenPool, rules: OfferRules) -> None:
        self._people = pool.people
        self._rules = rules
        self._tiers: Tiers = rules.tiers()
        self._candidates = Candidates(pool)
        votes = np.array([msgspec.structs.astuple(p.votes) for p in pool.people], np.int64)
        self._scorer: Scorer = SCORERS[rules.scoring](votes.reshape(-1, 4))
        self._exposure = [0] * len(pool.people)

    def choose(self, one: int, seed: int) -> tuple[Offer, ...]:
        """Choose the best candidates that are left for one receiver."""
        taken: dict[int, tuple[int, Tier]] = {}
        if self._candidates.is_adult(one):
            for tier in _BY_TIERS:
                complete = self._take(one, tier, taken, seed)
                if not complete and len(taken) < self._rules.daily_offer_count:
                    self._take(one, tier, taken, None)
                if len(taken) == self._rules.daily_offer_count:
                    break
        for number in taken:
            self._exposure[number] += 1
            if self._exposure[number] == self._rules.max_daily_exposure:
                self._candidates.close(number)
        return tuple(
            Offer(
                self._people[number].user_id, score, int(tier), self._candidates.facts(one, number)
            )
            for number, (score, tier) in sorted(
                taken.items(), key=lambda item: (-item[1][0], item[0])
            )
        )

    def _take(
        self, one: int, tier: Tier, taken: dict[int, tuple[int, Tier]], seed: int | None
    ) -> bool:
        """Choose the best that a tier admits; return whether all candidates were checked."""
        limits = self._tiers.limits(self._people[one], tier)
        suiting = self._candidates.suiting(one, limits, list(taken), seed)
        numbers = suiting.numbers
        if len(numbers):
            sure = self._candidates.sure(one, numbers)
            scores = self._scorer.scores(one, numbers, suiting.points, sure)
            for key in _best(scores, numbers, self._rules.daily_offer_count - len(taken)):
                score, rest = divmod(key, _MOST_PEOPLE)
                taken[_MOST_PEOPLE - 1 - rest] = (score, tier)
        return suiting.complete


def _best(scores: Ints, numbers: Numbers, count: int) -> list[int]:
    """The highest keys: by score, then by the lowest number, which is the lowest id. All differ."""
    keys = scores * _MOST_PEOPLE + (_MOST_PEOPLE - 1 - numbers.astype(np.int64))
    if len(keys) > count:
        keys = np.partition(keys, len(keys) - count)[len(keys) - count :]
    best: list[int] = np.sort(keys)[::-1].tolist()
    return best
