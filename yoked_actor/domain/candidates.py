"""The people of a frozen pool as columns of numbers, and who of them suits one (R3, R4, R43).

Exact, and the same on every machine: positions are taken to the nearest 40 cm as whole numbers on a
globe, ages are whole years, and what follows is integers, or floats that hold integers, or a single
correctly rounded operation. A distance is judged a metre too strictly rather than too kindly.

Those who may suit are narrowed down by genders, by place (cells of half a degree within reach) and
by age before anything else is looked at. When that leaves more than `MOST_LOOKED_AT`, every n-th of
them is looked at, beginning with another one for each user and day, and all of them only when those
do not fill the set. Lists by place are kept and shared by all who live there; how many is bounded,
and what is dropped is made again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from itertools import chain
from math import asin, cos, degrees, floor, inf, pi, radians, sin, sqrt

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.frozen_pool import FrozenPerson, FrozenPool, pairs_by_first, pairs_by_second
from yoked_actor.domain.instants import utc_date
from yoked_actor.domain.people import ADULT_AGE, EARTH_RADIUS_KM, age_on, haversine_km
from yoked_actor.domain.scoring import ONE, Facts, Ints, content, likeness
from yoked_actor.domain.tiers import Limits

Kind = tuple[str, tuple[str, ...]]
Place = tuple[int, int]
Numbers = NDArray[np.int64]

_GLOBE = 1 << 24
"""The radius of the globe of whole numbers: 38 cm a unit."""
_TOO_STRICT = 2
_ANYWHERE = (2.0 * _GLOBE + 4) ** 2
"""No two positions are further apart, squared."""
_CELLS_A_DEGREE = 2
_CELLS_AROUND = 360 * _CELLS_A_DEGREE
_REACHES_KM = (5, 10, 20, 35, 50, 75, 100, 150, 250, 400, 700, 1000)
FURTHEST_KM = _REACHES_KM[-1]
_WORDS = 4
_COMMON_TAGS = 64 * _WORDS
"""So many tags are bits of words; the others have lists of who named them."""
_CLOSED = 32_000
_AGES = np.arange(200, dtype=np.int16)
"""Nobody is as old as the last one."""
_MOST_LISTED = 15_000_000
MOST_LOOKED_AT = 2048


class Suiting(msgspec.Struct, frozen=True):
    """Who suits somebody, and by how many points of content."""

    numbers: Numbers
    points: Ints
    complete: bool
    """Whether everybody was looked at."""


class _Listed:
    """Candidates within reach of a place, by rising age."""

    __slots__ = ("_edges", "numbers")

    def __init__(self, numbers: Numbers, ages: NDArray[np.int16]) -> None:
        theirs = ages[numbers]
        order = np.argsort(theirs, kind="stable")
        self.numbers: Numbers = numbers[order]
        # How many are younger than each age.
        self._edges: list[int] = np.searchsorted(theirs[order], _AGES).tolist()

    def aged(self, limits: Limits) -> Numbers:
        """Those whose age lies inside the limits."""
        edges, last = self._edges, len(self._edges) - 1
        return self.numbers[edges[min(limits.min_age, last)] : edges[min(limits.max_age + 1, last)]]


class Candidates:
    """Everybody who can be offered; people are known by their number in the pool."""

    def __init__(self, pool: FrozenPool) -> None:
        self._people = people = pool.people
        today = utc_date(pool.offered_at)
        count = len(people)
        self._ages = np.fromiter((age_on(p.birth_date, today) for p in people), np.int16, count)
        self.adult = self._ages >= ADULT_AGE
        # Who is not to be offered (any more) accepts nobody's age.
        self._min_ages = np.fromiter((min(p.min_age, _CLOSED) for p in people), np.int16, count)
        self._min_ages[~self.adult] = _CLOSED
        self._max_ages = np.fromiter((min(p.max_age, _CLOSED) for p in people), np.int16, count)
        self._accepting: dict[int, NDArray[np.bool_]] = {}
        self._years: list[int] = self._ages.tolist()
        self._spots = [_on_globe(person) for person in people]
        self._wishes = [_reach2(person.max_distance_km) for person in people]
        self._reaches = np.array(self._wishes, np.float64)
        # What is looked at together stands together: memory is what a large pool waits for.
        self._globe = np.fromiter(chain.from_iterable(self._spots), np.float64, 4 * count)
        self._globe.shape = (count, 4)
        self._tags = _Tags(people)
        self._apart = pairs_by_first(pool.apart, count)
        self._not_again = pairs_by_first(pool.not_again, count)
        self._accepted_by = pairs_by_second(pool.accepted, count)
        self._kinds = _by_kind(people)
        self._by_place: dict[Kind, dict[Place, Numbers]] = {}
        self._listed: dict[tuple[Kind, Place, int], _Listed] = {}
        self._listed_numbers = 0

    def close(self, number: int) -> None:
        """Offer somebody no more."""
        self._min_ages[number] = _CLOSED
        for accepting in self._accepting.values():
            accepting[number] = False

    def suiting(self, one: int, limits: Limits, taken: list[int], lot: int | None) -> Suiting:
        """Everybody inside one's limits who accepts them and whom nothing keeps from them.

        With a `lot`, which says where to begin, no more than `MOST_LOOKED_AT` are looked at.
        """
        numbers = self._around(one, limits.max_km).aged(limits)
        every = 1 if lot is None else -(-len(numbers) // MOST_LOOKED_AT)
        if every > 1 and lot is not None:
            numbers = np.ascontiguousarray(numbers[lot % every :: every])
        numbers = numbers[self._open_to(one, numbers, taken)]
        chord2, reaches = self._chords(one, numbers), self._reaches.take(numbers)
        inside = (chord2 <= np.minimum(reaches, _reach2(limits.max_km))).nonzero()[0]
        numbers, chord2, reaches = numbers.take(inside), chord2.take(inside), reaches.take(inside)
        # By the narrower of both one's own wishes, so that the points are the same for both.
        narrower = np.maximum(np.minimum(reaches, self._wishes[one]), 1)
        lost = np.minimum(np.sqrt(chord2 / narrower) * ONE, ONE).astype(np.int64)
        years = np.abs(self._ages.take(numbers) - self._ages[one]).astype(np.int64)
        points = content(years, self._tags.likeness(one, numbers), lost)
        return Suiting(numbers, points, every <= 1)

    def sure(self, one: int, numbers: Numbers) -> NDArray[np.bool_]:
        """Who of these has accepted an offer of this one."""
        accepted_by = self._accepted_by[one]
        if not len(accepted_by):
            return np.zeros(0, np.bool_)
        return np.isin(numbers, accepted_by)

    def facts(self, one: int, other: int) -> Facts:
        """What the points of two were made of."""
        a, b = self._people[one], self._people[other]
        x, y, z, _ = self._spots[one]
        their_x, their_y, their_z, _ = self._spots[other]
        chord2 = (x - their_x) ** 2 + (y - their_y) ** 2 + (z - their_z) ** 2
        narrower = max(1.0, min(self._wishes[one], self._wishes[other]))
        shared = tuple(sorted(set(a.interests).intersection(b.interests)))
        return Facts(
            years_apart=abs(self._years[one] - self._years[other]),
            shared=shared,
            likeness=likeness(len(shared), len(a.interests), len(b.interests)),
            km=_km(a, b),
            nearness_lost=int(min(sqrt(chord2 / narrower) * ONE, ONE)),
        )

    def _chords(self, one: int, numbers: Numbers) -> NDArray[np.float64]:
        """The squares of how far these are from one, through the globe.

        |a - b|^2 as |b|^2 - 2ab + |a|^2: all of it whole numbers below 2^53, so that each sum is
        exact whichever way it is made.
        """
        x, y, z, square = self._spots[one]
        toward = np.array((-2.0 * x, -2.0 * y, -2.0 * z, 1.0))
        chords: NDArray[np.float64] = self._globe.take(numbers, axis=0).dot(toward) + square
        return chords

    def _open_to(self, one: int, numbers: Numbers, taken: list[int]) -> NDArray[np.bool_]:
        """Who of these accepts one's age, and is not kept from them."""
        accepting = self._accepting.get(self._years[one])
        if accepting is None:
            age = self._years[one]
            accepting = (self._min_ages <= age) & (self._max_ages >= age)
            self._accepting[age] = accepting
        kept: list[int] | Numbers = [one, *taken]
        apart, not_again = self._apart[one], self._not_again[one]
        if len(apart) or len(not_again):
            kept = np.concatenate((apart, not_again, kept))
        before = accepting.take(kept)
        accepting[kept] = False
        found = accepting.take(numbers)
        accepting[kept] = before
        return found

    def _around(self, one: int, km: float) -> _Listed:
        """Those of the genders that fit, in the cells within reach."""
        person = self._people[one]
        kind, place = (person.gender, person.seeking), place_of(person.lat, person.lon)
        reach = bisect_left(_REACHES_KM, km)
        if reach == len(_REACHES_KM):
            place = (0, 0)
        listed = self._listed.get((kind, place, reach))
        if listed is None:
            if self._listed_numbers > _MOST_LISTED:
                self._listed.clear()
                self._listed_numbers = 0
            listed = self._list(kind, place, reach)
            self._listed_numbers += len(listed.numbers)
            self._listed[kind, place, reach] = listed
        return listed

    def _list(self, kind: Kind, place: Place, reach: int) -> _Listed:
        places = self._by_place.get(kind)
        if places is None:
            places = self._by_place[kind] = self._places(kind)
        if reach == len(_REACHES_KM):
            near = list(places.values())
        else:
            cells = cells_within(place, _REACHES_KM[reach])
            near = [places[cell] for cell in cells if cell in places]
        return _Listed(np.concatenate([np.empty(0, np.int64), *near]), self._ages)

    def _places(self, kind: Kind) -> dict[Place, Numbers]:
        gender, seeking = kind
        found: dict[Place, list[int]] = {}
        for (other, sought), numbers in self._kinds.items():
            if other in seeking and gender in sought:
                for number in numbers:
                    person = self._people[number]
                    found.setdefault(place_of(person.lat, person.lon), []).append(number)
        return {place: np.array(numbers, np.int64) for place, numbers in found.items()}


class _Tags:
    """Who likes what, so that the likeness of one with many is quickly found."""

    def __init__(self, people: tuple[FrozenPerson, ...]) -> None:
        named = Counter(tag for person in people for tag in person.interests)
        common = sorted((tag for tag in named if named[tag] > 1), key=lambda t: (-named[t], t))
        bits = {tag: bit for bit, tag in enumerate(common[:_COMMON_TAGS])}
        rest = frozenset(common[_COMMON_TAGS:])
        self._counts = np.fromiter((len(p.interests) for p in people), np.int64, len(people))
        self._rest: list[tuple[str, ...]] = []
        words, who = [], {tag: list[int]() for tag in rest}
        for number, person in enumerate(people):
            word = 0
            others = []
            for tag in person.interests:
                if tag in bits:
                    word |= 1 << bits[tag]
                elif tag in rest:
                    others.append(tag)
                    who[tag].append(number)
            words.append(word.to_bytes(8 * _WORDS, "little"))
            self._rest.append(tuple(others))
        by_person = np.frombuffer(b"".join(words), "<u8").reshape(len(people), _WORDS)
        self._words = np.ascontiguousarray(by_person.T)
        self._who = {tag: np.array(numbers, np.int64) for tag, numbers in who.items()}
        self._marked = np.zeros(len(people), np.bool_)

    def likeness(self, one: int, numbers: Numbers) -> Ints:
        """How alike the tags of one and of others are."""
        shared = np.zeros(len(numbers), np.int64)
        for words in self._words:
            mine = words[one]
            if mine:
                shared += np.bitwise_count(words.take(numbers) & mine)
        for tag in self._rest[one]:
            self._marked[self._who[tag]] = True
            shared += self._marked.take(numbers)
            self._marked[self._who[tag]] = False
        alike: Ints = likeness(shared, int(self._counts[one]), self._counts.take(numbers))
        return alike


def place_of(lat: float, lon: float) -> Place:
    """The cell of half a degree that a position lies in."""
    return floor(lat * _CELLS_A_DEGREE), floor(lon * _CELLS_A_DEGREE) % _CELLS_AROUND


def reach_class(km: float) -> int:
    """The distance for which lists are kept that holds this one; `FURTHEST_KM` for all beyond."""
    return _REACHES_KM[min(bisect_left(_REACHES_KM, km), len(_REACHES_KM) - 1)]


def cells_within(place: Place, km: float) -> list[Place]:
    """Every cell that has a position so near to some position of this cell, and some more."""
    arc = km / EARTH_RADIUS_KM
    up = floor(degrees(arc) * _CELLS_A_DEGREE) + 1
    rows = range(place[0] - up, place[0] + up + 1)
    edge = max(abs(place[0]), abs(place[0] + 1)) / _CELLS_A_DEGREE
    width = inf
    if edge + degrees(arc) < 89:
        width = degrees(asin(min(1.0, sin(arc) / cos(radians(edge))))) * _CELLS_A_DEGREE + 1
    if 2 * width + 1 >= _CELLS_AROUND:
        columns = range(_CELLS_AROUND)
    else:
        columns = range(place[1] - floor(width), place[1] + floor(width) + 1)
    return [(row, column % _CELLS_AROUND) for row in rows for column in columns]


def _by_kind(people: tuple[FrozenPerson, ...]) -> dict[Kind, list[int]]:
    kinds: dict[Kind, list[int]] = {}
    for number, person in enumerate(people):
        kinds.setdefault((person.gender, person.seeking), []).append(number)
    return kinds


def _on_globe(person: FrozenPerson) -> tuple[int, int, int, int]:
    """A position in whole units, and the square of its distance from the centre."""
    lat, lon = radians(person.lat), radians(person.lon)
    flat = _GLOBE * cos(lat)
    x, y, z = round(flat * cos(lon)), round(flat * sin(lon)), round(_GLOBE * sin(lat))
    return x, y, z, x * x + y * y + z * z


def _reach2(km: float) -> float:
    """The squared chord that a distance reaches, in whole units."""
    half = km / EARTH_RADIUS_KM / 2
    if half >= pi / 2:
        return _ANYWHERE
    return float(floor(max(0.0, 2 * _GLOBE * sin(half) - _TOO_STRICT) ** 2))


def _km(a: FrozenPerson, b: FrozenPerson) -> int:
    lat_a, lat_b = radians(a.lat), radians(b.lat)
    km = haversine_km(lat_a, cos(lat_a), radians(a.lon), lat_b, cos(lat_b), radians(b.lon))
    return max(1, -floor(-km))
