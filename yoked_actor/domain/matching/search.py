"""The search for the best partner: exact over all tickets, but reads few of them.

The search reads the tickets inside the seeker's limits in descending order of their standing, and
stops as soon as no later one can win, because the term of a pair is bounded. It merges the lists of
the cells and birth years inside the limits, or reads the list of the whole group when these are too
many. If it takes long, one NumPy pass over the group finds all candidates by age and distance, and
only the best of those are read. Distances of that pass are approximate; every candidate who could
win is checked exactly. The pass leaves out the users who are kept apart from the seeker; each of
them that a walk comes to makes it end sooner.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import angles_of, haversine_km, kms_of, unit_vector
from yoked_actor.domain.matching.apart import Apart
from yoked_actor.domain.matching.columns import CELLS, EXACT, Entry, reach2
from yoked_actor.domain.matching.fairness import EPOCH, Policy
from yoked_actor.domain.matching.group import ALL_YEARS, Group, Line, walk
from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.matching.waiting import Ticket
from yoked_actor.domain.people import ADULT_AGE, born_number
from yoked_actor.domain.time import Instant, utc_date

# Not final: tests change them.
_SHORT_WALK = 100
_MOST_LINES = 32
_MOST_CELLS = 400

_WALKED_SHARE: Final = 1000
"""A walk ends after `_SHORT_WALK` tickets, and one more for each so many of the group: to read 100
takes as long as the pass over 50,000."""
_REFUSED: Final = 16
"""What a user who is kept apart costs of the length of a walk: others probably are, too."""
_SLACK: Final = 20_000
"""The largest error of the NumPy pass, in millionths of a point: two steps of nearness."""
_NEAR_KM: Final = 0.001
_SURELY: Final = 1 + 1e-6


class Search:
    """The search for the best partner of one seeker at one instant."""

    __slots__ = (
        "_angles",
        "_apart",
        "_beyond",
        "_born_after",
        "_born_by",
        "_bound",
        "_cells",
        "_lifts",
        "_limits",
        "_passed",
        "_person",
        "_policy",
        "_swept",
        "_today",
        "age",
        "best",
        "best_base",
        "best_km",
        "best_total",
    )

    def __init__(
        self,
        seeker: Ticket,
        limits: Limits,
        policy: Policy,
        now: Instant,
        apart: Apart,
        beyond: Limits | None = None,
    ) -> None:
        person = seeker.person
        today = utc_date(now)
        self._person = person
        self._limits = limits
        self._policy = policy
        self._apart = apart
        self._beyond = beyond
        self._today = born_number(today)
        self.age = (self._today - born_number(person.birth_date)) // 10_000
        self._born_by = self._today - 10_000 * max(limits.min_age, ADULT_AGE)
        self._born_after = self._today - 10_000 * (limits.max_age + 1)
        self._angles = angles_of(person.lat, person.lon)
        self._cells = CELLS.around_position(person.lat, person.lon, limits.max_km, _MOST_CELLS)
        elapsed = now - EPOCH
        self._lifts = (policy.slopes[0] * elapsed, policy.slopes[1] * elapsed)
        self._bound = policy.pair_bound
        self._passed: list[tuple[int, str]] = []
        self._swept: list[tuple[Group, NDArray[np.intp], NDArray[np.int64]]] = []
        self.best: Entry | None = None
        self.best_base = 0
        self.best_total = 0
        self.best_km = 0.0

    def read(self, group: Group) -> None:
        """Search a group whose genders suit."""
        lines = self._lines(group)
        patience = _SHORT_WALK + len(group) // _WALKED_SHARE
        for base, entry in walk(lines, self._lifts):
            if self._is_settled(base + self._bound, entry):
                return
            if patience <= 0:
                break
            patience -= 1 if self._consider(entry, base) else _REFUSED
        else:
            return
        self._sweep(group)

    def passed_over(self) -> list[str]:
        """The acceptable users who stood higher than the best one without the pair's term."""
        if self.best is None or self._bound == 0:
            return []
        passed = {user_id for base, user_id in self._passed if base > self.best_base}
        for group, rows, bases in self._swept:
            for index in np.flatnonzero(bases > self.best_base).tolist():
                entry = group.entries[rows[index]]
                if self._km_if_acceptable(entry) is not None:
                    passed.add(entry.user_id)
        # The rows of a sweep may contain the seeker, who waits too.
        passed -= {self.best.user_id, self._person.user_id}
        return sorted(passed)

    def _is_settled(self, most: int, entry: Entry) -> bool:
        """Whether neither this entry, with at most so much, nor any later one can win."""
        best = self.best
        if best is None or most > self.best_total:
            return False
        return most < self.best_total or (self._bound == 0 and entry.user_id > best.user_id)

    def _lines(self, group: Group) -> Sequence[Line]:
        """Ordered lists that together contain all tickets inside the limits."""
        if self._cells is None:
            return [group.order]
        places = CELLS.among(self._cells, group.cells)
        first_year, last_year = self._born_after // 10_000, self._born_by // 10_000
        if (last_year - first_year + 1) * len(places) <= _MOST_LINES:
            lines: list[Line] = []
            for years in places:
                if len(years) == 1:
                    lines.append(years[ALL_YEARS])
                    continue
                for year in range(first_year, last_year + 1):
                    phases = years.get(year)
                    if phases is not None:
                        lines.append(phases)
            return lines
        if len(places) > _MOST_LINES:
            return [group.order]
        return [years[ALL_YEARS] for years in places]

    def _km_if_acceptable(self, entry: Entry) -> float | None:
        """The distance of an acceptable candidate; None for any other."""
        if not self._born_after < entry.born <= self._born_by:
            return None
        if not entry.min_age <= self.age <= entry.max_age:
            return None
        # Unpacked by hand: compiled code calls a function with starred arguments as Python does.
        lat_a, cos_a, lon_a = self._angles
        lat_b, cos_b, lon_b = entry.angles
        km = haversine_km(lat_a, cos_a, lon_a, lat_b, cos_b, lon_b)
        if km > self._limits.max_km or km > entry.max_km:
            return None
        beyond = self._beyond
        if beyond is not None and km <= beyond.max_km:
            age = (self._today - entry.born) // 10_000
            if beyond.min_age <= age <= beyond.max_age:
                return None
        return km

    def _is_apart(self, entry: Entry) -> bool:
        return entry.user_id in self._apart or entry.user_id == self._person.user_id

    def _consider(self, entry: Entry, base: int) -> bool:
        """Compare a candidate with the best one; False if the two are kept apart."""
        if self._is_apart(entry):
            return False
        km = self._km_if_acceptable(entry)
        if km is None:
            return True
        total = base
        if self._bound:
            person = entry.ticket.person
            age = (self._today - entry.born) // 10_000
            total += self._policy.pair_terms(self._person, self.age, person, age, km)
            self._passed.append((base, entry.user_id))
        best = self.best
        if (
            best is None
            or total > self.best_total
            or (total == self.best_total and entry.user_id < best.user_id)
        ):
            self.best, self.best_base, self.best_total = entry, base, total
            self.best_km = km
        return True

    def _sweep(self, group: Group) -> None:
        """Search the whole group with NumPy."""
        rows, chords2 = self._rows_inside(group)
        if not len(rows):
            return
        columns = group.columns
        phases = columns["phase"][rows]
        bases = columns["key"][rows] + np.where(phases == 0, *self._lifts)
        totals = bases
        if self._bound:
            totals = bases + self._pair_terms(group, rows, chords2)
            self._swept.append((group, rows, bases))
        wanted = 64
        while len(rows) > wanted:
            least = np.partition(totals, len(rows) - wanted)[len(rows) - wanted]
            chosen = totals >= least
            if self._settle_among(group, rows[chosen], bases[chosen], totals[chosen]):
                return
            rest = ~chosen
            rows, bases, totals = rows[rest], bases[rest], totals[rest]
            wanted *= 16
        self._settle_among(group, rows, bases, totals)

    def _rows_inside(self, group: Group) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The rows that pass by age and, approximately, by distance; and their squared chords."""
        columns = group.columns
        vector, reach = unit_vector(*self._angles), reach2(self._limits.max_km)
        if reach < 1:
            # No chord is shorter than its part along one axis: most rows are far by latitude.
            z, most = columns["z"], sqrt(reach) * _SURELY
            band = np.flatnonzero((z >= vector[2] - most) & (z <= vector[2] + most))
            rows = band[self._suits_by_age(group, band)]
        else:
            rows = np.flatnonzero(self._suits_by_age(group, slice(None)))
        if len(self._apart) and len(rows):
            rows = rows[self._apart.free_of(columns["number"][rows])]
        chords2 = columns.chords2(EXACT, rows, vector)
        near = (chords2 <= columns["reach2"][rows]) & (chords2 <= reach)
        return rows[near], chords2[near]

    def _suits_by_age(self, group: Group, rows: NDArray[np.intp] | slice) -> NDArray[np.bool_]:
        """Which of these rows pass by age, both ways."""
        columns = group.columns
        born = columns["born"][rows]
        suits: NDArray[np.bool_] = (born > self._born_after) & (born <= self._born_by)
        suits &= columns["min_age"][rows] <= self.age
        suits &= columns["max_age"][rows] >= self.age
        return suits

    def _pair_terms(
        self, group: Group, rows: NDArray[np.intp], chords2: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """`Weighted.pair_terms` for many rows; the nearness may differ by one step."""
        columns, person = group.columns, self._person
        spans = columns["wanted_span"][rows]
        theirs = np.abs(2 * self.age - columns["wanted_ages"][rows])
        fit = 2000 - np.minimum(1000, 1000 * theirs // spans)
        ages = (self._today - columns["born"][rows].astype(np.int64)) // 10_000
        mine = np.abs(2 * ages - person.min_age - person.max_age)
        fit -= np.minimum(1000, 1000 * mine // (person.max_age - person.min_age + 2))
        km = kms_of(chords2)
        # Below this limit steps of nearness are finer than the precision of chords.
        limits = np.maximum(
            np.minimum(columns["wanted_km"][rows], person.max_distance_km), _NEAR_KM
        )
        near = np.floor(10_000 * (1.0 - np.minimum(1.0, km / limits))).astype(np.int64)
        terms: NDArray[np.int64] = 500_000 * fit + 10_000 * near
        return terms

    def _settle_among(
        self,
        group: Group,
        rows: NDArray[np.intp],
        bases: NDArray[np.int64],
        totals: NDArray[np.int64],
    ) -> bool:
        """Read these in descending order of total; True when no later one can win."""
        slack = _SLACK if self._bound else 0
        entries = group.entries
        order = np.argsort(-totals, kind="stable")
        found = zip(
            rows[order].tolist(), bases[order].tolist(), totals[order].tolist(), strict=True
        )
        for row, base, total in found:
            entry = entries[row]
            if self._is_settled(total + slack, entry):
                # Equal totals are in no order: the next one may have a lower id.
                if total + slack < self.best_total:
                    return True
                continue
            self._consider(entry, base)
        return False
