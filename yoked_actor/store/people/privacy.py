"""Privacy in the store: a person's data as a whole, traces for an erasure, and what grows old.

An export and the search for traces read long tables, so both run on a connection that nobody else
waits for, one at a time.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import date, datetime
from typing import Any, Protocol, TypeVar

import msgspec
import trio

from yoked_actor.domain.offers import shown_points
from yoked_actor.domain.people import (
    OwnConnection,
    OwnDate,
    OwnMatch,
    OwnOffer,
    OwnOffers,
    OwnProfile,
    OwnReport,
    OwnSeat,
    OwnSuspension,
    PersonalData,
    Since,
)
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.store.engine import StoreUnavailable, Writer, read_rows, statement
from yoked_actor.store.offers import KeptSet, kept_set
from yoked_actor.store.people.erasure import Traces, find_traces

T = TypeVar("T")
_PATIENCE_S = 30.0
_LOAD_SETS = statement("offers/load_sets")
_PRUNED = {"reports": ("number", "at"), "quality": ("match_number", "paired_at")}
_PRUNED["audit"] = ("number", "at")
_PRUNED["suspended"] = ("user_id", "until")

_Row = tuple[Any, ...]


class Read(Protocol):
    """Runs a query on a connection that reads."""

    def __call__(self, query: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqlitePrivacy:
    """What people may ask of the store about themselves. A part of `SqliteStore`."""

    def __init__(
        self, writer: Writer, read_long: Read, fold: Callable[[], Awaitable[bool]]
    ) -> None:
        self._writer = writer
        self._read_long = read_long
        self._fold = fold
        self._turn = trio.Lock()
        self._traces: dict[str, Traces] = {}

    async def export(self, user_id: str, now: Instant) -> PersonalData:
        """All that is kept of one person, as of one instant."""
        async with self._turn:
            return await self._read_long(lambda db: _export(db, user_id, now))

    async def look_up(self, user_id: str, now: Instant) -> None:
        """Prepare the erasure of a user, so that its transaction is a short one."""
        async with self._turn:
            self._traces[user_id] = await self._read_long(lambda db: find_traces(db, user_id, now))

    def found(self, user_id: str) -> Traces | None:
        """What `look_up` has found."""
        return self._traces.get(user_id)

    def forget(self, user_id: str) -> None:
        """The user was erased."""
        self._traces.pop(user_id, None)

    async def wipe(self) -> bool:
        """Let nothing that was deleted stay in the write-ahead log; say whether that was done.

        It waits for readers, up to a bound; who reads on for longer keeps the log from being cut.
        """
        with trio.move_on_after(_PATIENCE_S):
            while True:
                with suppress(StoreUnavailable):
                    if await self._fold():
                        return True
                await trio.sleep(0.1)
        return False

    async def prune(self, table: str, before: Instant, limit: int) -> int:
        """Delete rows that ended before an instant, of one of some tables; say how many."""
        key, at = _PRUNED[table]
        query = (
            f"DELETE FROM {table} WHERE {key} IN"
            f" (SELECT {key} FROM {table} WHERE {at} < ? ORDER BY {at} LIMIT ?)"
        )
        return await self._writer.write(
            lambda db: db.execute(query, (before, limit)).rowcount, atomic=True
        )


def _export(db: sqlite3.Connection, user: str, now: Instant) -> PersonalData:
    db.execute("BEGIN")  # one snapshot for all of it
    try:
        return PersonalData(
            user_id=user,
            exported_at=to_datetime(now),
            profile=_profile(db, user),
            seat=_seat(db, user),
            suspended=_suspension(db, user),
            blocks=_since(db, "SELECT blocked, at FROM blocks WHERE blocker = ?1", user),
            met=_pairs(db, "met", "met_at", user),
            kept_apart_until=_pairs(db, "bars", "until", user),
            matches=_matches(db, user),
            dates=_dates(db, user),
            reports=_reports(db, user),
            offers=_offers(db, user),
            connections=_connections(db, user),
        )
    finally:
        db.execute("ROLLBACK")


def _profile(db: sqlite3.Connection, user: str) -> OwnProfile | None:
    row = db.execute(
        "SELECT display_name, birth_date, gender, lat, lon, time_zone, interests, seeking,"
        " min_age, max_age, max_distance_km FROM people WHERE user_id = ?",
        (user,),
    ).fetchone()
    if row is None:
        return None
    interests, seeking = msgspec.json.decode(row[6]), msgspec.json.decode(row[7])
    return OwnProfile(
        *(row[0], date.fromisoformat(row[1]), *row[2:6], interests, seeking, *row[8:])
    )


def _seat(db: sqlite3.Connection, user: str) -> OwnSeat | None:
    row = db.execute(
        "SELECT state, credit, waiting_since FROM seats WHERE user_id = ?", (user,)
    ).fetchone()
    return None if row is None else OwnSeat(row[0], row[1], _moment(row[2]))


def _suspension(db: sqlite3.Connection, user: str) -> OwnSuspension | None:
    row = db.execute(
        "SELECT at, reason, until FROM suspended WHERE user_id = ?", (user,)
    ).fetchone()
    return None if row is None else OwnSuspension(to_datetime(row[0]), row[1], _moment(row[2]))


def _since(db: sqlite3.Connection, query: str, user: str) -> list[Since]:
    return [
        Since(who, to_datetime(at)) for who, at in db.execute(f"{query} ORDER BY 2, 1", (user,))
    ]


def _pairs(db: sqlite3.Connection, table: str, at: str, user: str) -> list[Since]:
    above = f"SELECT b, {at} FROM {table} WHERE a = ?1"
    return _since(db, f"{above} UNION ALL SELECT a, {at} FROM {table} WHERE b = ?1", user)


def _matches(db: sqlite3.Connection, user: str) -> list[OwnMatch]:
    found = []
    query = (
        "SELECT m.number, m.a, m.b, m.status, m.paired_at, m.a_acknowledged, m.b_acknowledged,"
        " m.voting_at, m.a_vote, m.b_vote, m.outcome, m.cancelled_for, m.ended_at,"
        " q.a_tier, q.b_tier, q.a_wait_s, q.b_wait_s, q.shown_km,"
        " EXISTS (SELECT 1 FROM blocks AS k WHERE k.blocker = ?1 AND k.at = m.ended_at"
        " AND k.blocked IN (m.a, m.b))"
        " FROM matches AS m LEFT JOIN quality AS q ON q.match_number = m.number"
        " WHERE m.a = ?1 OR m.b = ?1 ORDER BY m.number"
    )
    for row in db.execute(query, (user,)):
        mine, theirs = (0, 1) if row[1] == user else (1, 0)
        cancelled_for, has_blocked = row[11], row[18]
        if cancelled_for == "blocked" and not has_blocked:
            cancelled_for = "partner_left"  # as they were told: never that they were blocked
        found.append(
            OwnMatch(
                match_id=f"m{row[0]}",
                partner=row[1 + theirs],
                status=row[3],
                paired_at=to_datetime(row[4]),
                acknowledged=bool(row[5 + mine]),
                voting_at=_moment(row[7]),
                vote=row[8 + mine],
                outcome=row[10],
                cancelled_for=cancelled_for,
                ended_at=_moment(row[12]),
                tier=row[13 + mine],
                waited_s=row[15 + mine],
                distance_km=row[17],
            )
        )
    return found


def _dates(db: sqlite3.Connection, user: str) -> list[OwnDate]:
    query = (
        "SELECT number, iif(a = ?1, b, a), started_at, ended_at, ended_for FROM dates"
        " WHERE a = ?1 OR b = ?1 ORDER BY number"
    )
    return [
        OwnDate(f"d{number}", partner, to_datetime(began), _moment(ended), why)
        for number, partner, began, ended, why in db.execute(query, (user,))
    ]


def _reports(db: sqlite3.Connection, user: str) -> list[OwnReport]:
    query = (
        "SELECT reported, reason, at, match_id, resolved_at FROM reports WHERE reporter = ?"
        " ORDER BY number"
    )
    return [
        OwnReport(who, reason, to_datetime(at), match_id, _moment(resolved))
        for who, reason, at, match_id, resolved in db.execute(query, (user,))
    ]


def _offers(db: sqlite3.Connection, user: str) -> list[OwnOffers]:
    query = f"{_LOAD_SETS} WHERE s.user_id = ? ORDER BY s.offered_at"
    sets = read_rows(db.execute(query, (user,)), kept_set, "offer_sets")
    return [_offers_of(kept) for kept in sets]


def _offers_of(kept: KeptSet) -> OwnOffers:
    made = kept.offers
    offers = [
        # Without the distance: the stored one is exact, and was told as the edge of a band.
        OwnOffer(
            *(offer_id, offer.candidate, shown_points(offer.facts, None)),
            *(list(offer.reasons(None)), answer),
        )
        for offer_id, offer, answer in zip(made.ids(), made.offers, kept.answers, strict=True)
    ]
    return OwnOffers(
        *(made.day.isoformat(), kept.zone, to_datetime(made.offered_at)),
        *(to_datetime(made.expires_at), offers, _moment(kept.delivered_at)),
    )


def _connections(db: sqlite3.Connection, user: str) -> list[OwnConnection]:
    query = (
        "SELECT number, iif(a = ?1, b, a), opened_at FROM connections WHERE a = ?1 OR b = ?1"
        " ORDER BY number"
    )
    return [
        OwnConnection(f"c{number}", partner, to_datetime(at))
        for number, partner, at in db.execute(query, (user,))
    ]


def _moment(at: Instant | None) -> datetime | None:
    return None if at is None else to_datetime(at)
