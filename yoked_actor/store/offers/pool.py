"""Reading what a zone's run of offers is made from, in one snapshot.

Receivers are the people of the zone, except those whose last set is too recent (R41). A user who
is suspended at the instant of the run is neither receiver nor candidate. Candidates are the
receivers, and the people of other zones in the cells that the widest limits of a receiver reach. A
limit over 1,000 km counts as 1,000 km there, so that one person does not add the whole world.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from time import sleep
from typing import TypeVar

import msgspec

from yoked_actor.domain.geometry import Cell
from yoked_actor.domain.matching import Tier, Tiers
from yoked_actor.domain.offers import (
    CELLS,
    NO_VOTES,
    FrozenPool,
    OfferRules,
    Votes,
    freeze,
    frozen_person,
    reach_class,
)
from yoked_actor.domain.people import Person, StrictLimit
from yoked_actor.domain.time import MICROSECONDS, Instant, from_datetime
from yoked_actor.store.engine import Tx, read_row, read_rows, snapshot, statement
from yoked_actor.store.lobby import person_of

TOO_RECENT = 12 * 3600 * MICROSECONDS
"""No user gets two sets within this time, in microseconds (R41)."""
NEWEST_MATCHES = 2_000_000
"""Only votes of so many matches are counted."""

_RECEIVERS = statement("offers/pool_receivers")
_PEOPLE = statement("offers/pool_people")
_VOTES = statement("offers/pool_votes")
_APART = statement("offers/pool_apart")
_NOT_AGAIN = statement("offers/pool_not_again")
_ACCEPTED = statement("offers/pool_accepted")
_DAY = 86_400 * MICROSECONDS
_ROWS_AT_ONCE = 100
_OFTEN_S = 0.00015

T = TypeVar("T")
_decode_ids = msgspec.json.Decoder(list[str]).decode


def read_pool(
    tx: Tx,
    zone: str,
    day: date,
    offered_at: Instant,
    expires_at: Instant,
    rules: OfferRules,
    rematch_after_days: float | None,
) -> FrozenPool:
    """The pool of a run, from the present content of the database."""
    with snapshot(tx):
        near = {"zone": zone, "day": day.isoformat(), "at": offered_at, "apart": TOO_RECENT}
        residents: list[Person] = []
        receivers: list[str] = []
        for row in _yielding(tx.execute(_RECEIVERS, near)):
            person = read_row(row[:-1], person_of, "people")
            if person is None:
                continue
            residents.append(person)
            has_set = row[-1]
            if not has_set:
                receivers.append(person.user_id)
        cells = _json(sorted(_cells_of(residents, rules.tiers())))
        found = tx.execute(_PEOPLE, {"cells": cells, "zone": zone, "at": offered_at})
        others = read_rows(_yielding(found), person_of, "people")
        votes = {
            who: Votes(*counts)
            for who, *counts in tx.execute(_VOTES, {"newest": NEWEST_MATCHES, "at": offered_at})
        }
        people, receiving = [*residents, *others], frozenset(receivers)
        ids = _json([person.user_id for person in people])
        met_after = (
            None if rematch_after_days is None else offered_at - round(rematch_after_days * _DAY)
        )
        return freeze(
            zone,
            day,
            offered_at,
            expires_at,
            (
                frozen_person(
                    person,
                    receives=person.user_id in receiving,
                    votes=votes.get(person.user_id, NO_VOTES),
                )
                for person in _yielding(people)
            ),
            apart=tx.execute(_APART, {"people": ids, "met_after": met_after}),
            not_again=_offered_recently(tx, receivers, day, rules.not_again_days),
            accepted=tx.execute(_ACCEPTED, (ids,)),
        )


def _yielding(rows: Iterable[T]) -> Iterable[T]:
    """The same rows, releasing the interpreter lock at times, because commits wait for it.

    Where threads switch often, as in a worker process, others get the lock soon in any case.
    """
    return rows if sys.getswitchinterval() <= _OFTEN_S else _with_pauses(rows)


def _with_pauses(rows: Iterable[T]) -> Iterator[T]:
    for number, row in enumerate(rows):
        if number % _ROWS_AT_ONCE == 0:
            sleep(0)
        yield row


def _offered_recently(
    tx: Tx, receivers: list[str], day: date, days: int
) -> Iterator[tuple[str, str]]:
    first = day - timedelta(days=days)
    asked = {
        "people": _json(receivers),
        "first": first.isoformat(),
        # Until tomorrow: a user who crossed the date line may have the set of a later date.
        "last": (day + timedelta(days=1)).isoformat(),
        # The morning of a date is nowhere on earth earlier than this.
        "since": from_datetime(datetime.combine(first, time(), UTC)) - _DAY,
    }
    for user_id, candidates in tx.execute(_NOT_AGAIN, asked):
        if candidates != "[]":  # most have none after a pause, and all on the first day
            for candidate in _decode_ids(candidates):
                yield user_id, candidate


def _cells_of(people: Iterable[Person], tiers: Tiers) -> set[int]:
    """The cells that the people's widest limits reach, as the index `people_by_cell` counts."""
    circles: set[tuple[Cell, int]] = set()
    reaches: dict[tuple[float, frozenset[StrictLimit]], int] = {}
    for person in people:
        limit = person.max_distance_km, person.strict
        reach = reaches.get(limit)
        if reach is None:
            widest = tiers.limits(person, Tier.WIDEST).max_km
            reach = reaches[limit] = reach_class(widest)
        circles.add((CELLS.cell_of(person.lat, person.lon), reach))
    return {_index_of(cell) for circle in circles for cell in CELLS.around_cell(*circle)}


def _index_of(cell: Cell) -> int:
    """The index counts rows from the south pole, and columns from the meridian of 180 degrees."""
    row, column = divmod(cell, CELLS.columns)
    half_turn = CELLS.columns // 2
    return (row + half_turn // 2) * CELLS.columns + (column + half_turn) % CELLS.columns


def _json(values: list[str] | list[int]) -> str:
    return msgspec.json.encode(values).decode()
