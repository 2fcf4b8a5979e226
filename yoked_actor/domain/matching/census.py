"""Counts the waiting users by what keeps each of them from one user.

One NumPy pass over the groups whose genders suit; other groups are counted as a whole. Distances of
that pass come from chords and are approximate, so a user at the very edge of a limit is measured
again exactly. All distances are between shown places (see `shown_places`): a count that changed at
an exact distance would reveal it to a user who varies their own limits.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from math import ceil

import msgspec
import numpy as np
from numpy.typing import NDArray

from yoked_actor.domain.geometry import angles_of, haversine_km, kms_of, unit_vector
from yoked_actor.domain.matching.columns import SHOWN, reach2
from yoked_actor.domain.matching.group import Group
from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.matching.pool import Pool
from yoked_actor.domain.matching.relaxation import Rejections, Relaxation, StrictCost
from yoked_actor.domain.matching.waiting import Ticket
from yoked_actor.domain.people import (
    ADULT_AGE,
    age_on,
    band_km,
    born_number,
)
from yoked_actor.domain.time import Instant, utc_date

Mask = NDArray[np.bool_]


class Census(msgspec.Struct, frozen=True):
    """How many others wait, and what keeps them from one user."""

    pool: int
    rejected_by: Rejections
    nearest: Relaxation | None
    strict: StrictCost


def take_census(
    pool: Pool,
    ticket: Ticket,
    limits: Limits,
    now: Instant,
    apart: Iterable[str],
    shown: tuple[float, float],
) -> Census:
    """Count all others in the pool for a ticket that accepts inside `limits`.

    `apart` are the users whom a block, a meeting or a bar keeps from the ticket's user; `shown` is
    the shown place of that user.
    """
    own = pool.entry(ticket.user_id)
    others = len(pool) - (own is not None)
    left_out: dict[object, list[int]] = defaultdict(list)
    for user_id in {*apart, ticket.user_id}:
        if (entry := pool.entry(user_id)) is not None:
            left_out[_kind(entry.ticket)].append(entry.row)
    count = _Count(ticket, limits, now, shown)
    suiting = history = 0
    for group in pool.suiting(ticket.person):
        rows = left_out.get(_kind(group.entries[0].ticket), [])
        suiting += len(group)
        history += len(rows)
        count.add(group, rows)
    if own is not None and ticket.person.gender in ticket.person.seeking:
        # The user is neither one of the others, nor counted as history.
        suiting, history = suiting - 1, history - 1
    rejected = Rejections(others - suiting, history, count.age, count.distance)
    strict = StrictCost(count.strict_age, count.strict_distance)
    return Census(others, rejected, count.nearest(), strict)


class _Count:
    """The counts over the groups so far."""

    def __init__(
        self, ticket: Ticket, limits: Limits, now: Instant, shown: tuple[float, float]
    ) -> None:
        today = utc_date(now)
        person = ticket.person
        self._limits = limits
        self._strict = person.strict
        self._age = age_on(person.birth_date, today)
        self._today = born_number(today)
        self._angles = angles_of(*shown)
        self._vector = unit_vector(*self._angles)
        self._years: list[NDArray[np.int64]] = []
        self._kms: list[NDArray[np.float64]] = []
        self.age = 0
        self.distance = 0
        self.strict_age = 0
        self.strict_distance = 0

    def add(self, group: Group, left_out: list[int]) -> None:
        """Count a group whose genders suit, without some of its rows."""
        columns, limits = group.columns, self._limits
        here = np.ones(len(group), np.bool_)
        here[left_out] = False
        born = columns["born"]
        wanted = self._is_wanted(born)
        wants = here & (columns["min_age"] <= self._age) & (columns["max_age"] >= self._age)
        fit = np.count_nonzero(wants & wanted)
        self.age += int(np.count_nonzero(here) - fit)
        rows = np.flatnonzero(wants)
        wanted = wanted[rows]
        chords2 = group.columns.chords2(SHOWN, rows, self._vector)
        near_them = self._within(group, rows, chords2, columns["reach2"][rows], theirs=True)
        near_me = self._within(group, rows, chords2, reach2(limits.max_km), theirs=False)
        self.distance += int(fit - np.count_nonzero(wanted & near_them & near_me))
        others = rows[~wanted & near_them & near_me]
        ages = (self._today - born[others].astype(np.int64)) // 10_000
        ages = ages[ages >= ADULT_AGE]
        self._years.append(np.maximum(limits.min_age - ages, ages - limits.max_age))
        too_far = chords2[wanted & near_them & ~near_me]
        self._kms.append(kms_of(too_far))
        if self._strict:
            self._add_strict(group, here)

    def _add_strict(self, group: Group, here: Mask) -> None:
        """Count the users whom nothing but a strict limit of this user keeps away for good.

        Limits that widen do not count, neither the user's nor the others': with time they admit
        everybody. The others' strict limits have the same columns in every tier.
        """
        columns = group.columns
        wants = (columns["min_age"] <= self._age) & (columns["max_age"] >= self._age)
        born = columns["born"]
        adult = born <= self._today - 10_000 * ADULT_AGE
        rows = np.flatnonzero(here & adult & (wants | ~columns["strict_age"]))
        chords2 = columns.chords2(SHOWN, rows, self._vector)
        open_to_me = ~columns["strict_distance"][rows] | self._within(
            group, rows, chords2, columns["reach2"][rows], theirs=True
        )
        near = self._within(group, rows, chords2, reach2(self._limits.max_km), theirs=False)
        aged = self._is_wanted(born[rows])
        if "age" in self._strict:
            near_enough = near if "distance" in self._strict else np.True_
            self.strict_age += int(np.count_nonzero(open_to_me & near_enough & ~aged))
        if "distance" in self._strict:
            fitting = aged if "age" in self._strict else np.True_
            self.strict_distance += int(np.count_nonzero(open_to_me & fitting & ~near))

    def _is_wanted(self, born: NDArray[np.int32]) -> Mask:
        """Which birth dates are inside the user's limits."""
        youngest = self._today - 10_000 * self._limits.min_age
        oldest = self._today - 10_000 * (self._limits.max_age + 1)
        wanted: Mask = (born <= youngest) & (born > oldest)
        return wanted

    def nearest(self) -> Relaxation | None:
        """The least change to the user's own limits that would admit somebody."""
        limits = self._limits
        found: list[tuple[float, Relaxation]] = []
        if len(years := np.concatenate([*self._years, np.zeros(0, np.int64)])):
            by = int(years.min())
            gives = int(np.count_nonzero(years <= by))
            share = by / (limits.max_age - limits.min_age + 1)
            found.append((share, Relaxation("age", by, "years", gives)))
        if len(kms := np.concatenate([*self._kms, np.zeros(0)])):
            by = max(1, ceil(band_km(float(kms.min())) - limits.max_km))
            gives = int(np.count_nonzero(kms <= limits.max_km + by))
            found.append((by / limits.max_km, Relaxation("distance", by, "km", gives)))
        return min(found, key=lambda one: one[0])[1] if found else None

    def _within(
        self,
        group: Group,
        rows: NDArray[np.intp],
        chords2: NDArray[np.float64],
        reach: NDArray[np.float64] | float,
        *,
        theirs: bool,
    ) -> Mask:
        """The rows inside the user's reach, or whose own reach includes the user."""
        within: Mask = chords2 <= reach
        # The largest error of a squared chord, by rounding and by the increase of `reach2`.
        doubt = 8e-9 * np.asarray(reach) + 2e-17
        for index in np.flatnonzero(np.abs(chords2 - reach) <= doubt).tolist():
            entry = group.entries[rows[index]]
            most = entry.max_km if theirs else self._limits.max_km
            within[index] = haversine_km(*self._angles, *entry.shown) <= most
        return within


def _kind(ticket: Ticket) -> object:
    return (ticket.person.gender, ticket.person.seeking)
