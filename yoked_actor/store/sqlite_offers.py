"""Daily offers in the same SQLite file, behind the same writer, as everything else.

A zone's pool is read through a connection of its own: it takes seconds for a large zone, and nobody
who comes in may wait for that. It is kept, deflated, until `drop_pools`, so that a run that was cut
off goes on from what it began with, and can be made again to be verified.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import Any, Protocol, TypeVar

import msgspec

from yoked_actor.domain.frozen_pool import OfferRules, canonical, inputs_digest, thawed
from yoked_actor.domain.instants import Instant
from yoked_actor.domain.offers import Offer, OfferSet
from yoked_actor.domain.records import TOMBSTONE, pair_of
from yoked_actor.domain.scoring import Facts
from yoked_actor.store.offer_pool import TOO_NEAR, read_pool
from yoked_actor.store.offers import (
    Answer,
    Answered,
    AnswerGiven,
    Connection,
    FrozenRun,
    KeptSet,
    NoSuchOffer,
    OfferExpired,
)
from yoked_actor.store.opening import statement
from yoked_actor.store.sqlite_erasure import drop_offer, erased_since_frozen
from yoked_actor.store.writer import Writer

T = TypeVar("T")
MOST_SEARCHED = 40
"""An offer is looked for in so many of a user's newest sets."""

_ADD_SETS = statement("offer_add_sets")
_ADD_OFFERS = statement("offer_add_offers")
_LOAD_SETS = statement("offer_load_sets")
_DEFLATION = 1

_Row = tuple[Any, ...]


class Read(Protocol):
    """Runs a query on a connection that reads."""

    def __call__(self, query: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteOffers:
    """`Offers` in an SQLite database."""

    def __init__(self, writer: Writer, read: Read, read_long: Read) -> None:
        self._writer = writer
        self._read = read
        self._read_long = read_long

    async def freeze_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """Freeze what a run is made from; who comes second gets what the first one froze."""
        frozen = await self.load_run(zone, day)
        if frozen is not None and not frozen.is_to_be_frozen_again:
            return frozen

        def prepare(db: sqlite3.Connection) -> tuple[FrozenRun, tuple[_Row, _Row], int]:
            erasures = _count_erased(db)
            pool = read_pool(db, zone, day, offered_at, expires_at, rules, rematch_after_days)
            erased = 0 if frozen is None else frozen.erased
            run = FrozenRun(day, zone, rules, inputs_digest(pool, rules), None, pool, erased)
            receivers = sum(person.receives for person in pool.people)
            key, text = (day.isoformat(), zone), msgspec.json.encode(rules).decode()
            row = (*key, offered_at, expires_at, now, text, run.inputs, receivers)
            return run, (row, (*key, zlib.compress(canonical(pool), _DEFLATION))), erasures

        run, (run_row, pool_row), erasures = await self._read_long(prepare)

        def keep(db: sqlite3.Connection) -> bool | None:
            if _count_erased(db) != erasures:
                return None  # somebody may be in the pool who must not be in the file any more
            added = db.execute(
                "INSERT INTO offer_runs (day, zone, offered_at, expires_at, frozen_at, rules,"
                " inputs, receivers) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " frozen_at = excluded.frozen_at, rules = excluded.rules, inputs = excluded.inputs,"
                " receivers = excluded.receivers WHERE erased > 0 AND outputs IS NULL AND NOT"
                " EXISTS (SELECT 1 FROM offer_pools AS p"
                " WHERE p.day = excluded.day AND p.zone = excluded.zone)",
                run_row,
            ).rowcount
            if added:
                db.execute(
                    "INSERT INTO offer_pools (day, zone, content) VALUES (?, ?, ?)", pool_row
                )
            return bool(added)

        kept = await self._writer.write(keep)
        if kept is None:
            return await self.freeze_pool(
                zone, day, offered_at, expires_at, rules, now, rematch_after_days
            )
        if kept:
            return run
        first = await self.load_run(zone, day)
        assert first is not None
        return first

    async def load_run(self, zone: str, day: date) -> FrozenRun | None:
        """What a run is made from, if it was frozen."""

        def load(db: sqlite3.Connection) -> FrozenRun | None:
            row = db.execute(
                "SELECT r.rules, r.inputs, r.outputs, p.content, r.erased FROM offer_runs AS r"
                " LEFT JOIN offer_pools AS p ON p.day = r.day AND p.zone = r.zone"
                " WHERE r.day = ? AND r.zone = ?",
                (day.isoformat(), zone),
            ).fetchone()
            if row is None:
                return None
            rules = msgspec.json.decode(row[0], type=OfferRules)
            pool = None if row[3] is None else thawed(zlib.decompress(row[3]))
            return FrozenRun(day, zone, rules, row[1], row[2], pool, row[4])

        return await self._read_long(load)

    async def record_outputs(self, zone: str, day: date, digest: str) -> None:
        """Keep the digest of all sets of a run; the first one stands."""
        row = (digest, day.isoformat(), zone)
        await self._writer.write(
            lambda db: _execute(
                db,
                "UPDATE offer_runs SET outputs = coalesce(outputs, ?) WHERE day = ? AND zone = ?",
                row,
            ),
            atomic=True,
        )

    async def store_sets(self, zone: str, sets: Sequence[OfferSet], now: Instant) -> list[str]:
        """Keep sets; say whose were kept. The first of a user and day stands (R41)."""
        return await self._writer.write(lambda db: store_sets_in(db, zone, sets, now))

    async def load_set(self, user_id: str, day: date) -> KeptSet | None:
        """One user's set of one date."""
        found = await self._sets("WHERE s.day = ? AND s.user_id = ?", day.isoformat(), user_id)
        return found[0] if found else None

    async def load_sets(self, user_id: str, most: int) -> list[KeptSet]:
        """One user's sets, the newest first."""
        newest = "WHERE s.user_id = ? ORDER BY s.offered_at DESC LIMIT ?"
        return await self._sets(newest, user_id, most)

    async def load_zone(self, zone: str, day: date) -> list[KeptSet]:
        """All sets of a zone's run, by user id."""
        query = f"{_LOAD_SETS} WHERE s.day = ? AND s.zone = ? ORDER BY s.user_id"
        return await self._read_long(
            lambda db: [_kept_set(row) for row in db.execute(query, (day.isoformat(), zone))]
        )

    async def record_delivery(self, user_id: str, day: date, now: Instant) -> None:
        """Note that a user was told of a set; the first time is kept, all are counted."""
        row = (now, day.isoformat(), user_id)
        await self._writer.write(
            lambda db: _execute(
                db,
                "UPDATE offer_sets SET delivered_at = coalesce(delivered_at, ?),"
                " deliveries = deliveries + 1 WHERE day = ? AND user_id = ?",
                row,
            ),
            atomic=True,
        )

    async def answer(self, user_id: str, offer_id: str, answer: Answer, now: Instant) -> Answered:
        """Take an answer; the same one again changes nothing and gets the same result."""
        for kept in await self.load_sets(user_id, MOST_SEARCHED):
            ids = kept.offers.ids()
            if offer_id in ids:
                candidate = kept.offers.offers[ids.index(offer_id)].candidate
                break
        else:
            raise NoSuchOffer(f"there is no offer {offer_id} for this user")
        day, expires_at = kept.offers.day, kept.offers.expires_at
        return await self._writer.write(
            lambda db: _answer(db, user_id, candidate, day, expires_at, answer, now)
        )

    async def connections(self, user_id: str) -> list[Connection]:
        """A user's connections, the oldest first."""
        found = await self._read(
            lambda db: db.execute(
                "SELECT number, a, b, opened_at FROM connections WHERE (a = ?1 OR b = ?1)"
                " AND b NOT GLOB ?2 ORDER BY number",
                (user_id, f"{TOMBSTONE}*"),
            ).fetchall()
        )
        return [_connection(row, user_id) for row in found]

    async def drop_pools(self, before: date) -> int:
        """Let go of the pools of all runs before a date; say how many."""
        row = (before.isoformat(),)
        return await self._writer.write(
            lambda db: db.execute("DELETE FROM offer_pools WHERE day < ?", row).rowcount,
            atomic=True,
        )

    async def _sets(self, which: str, *parameters: str | int) -> list[KeptSet]:
        query = f"{_LOAD_SETS} {which}"
        found = await self._read(lambda db: db.execute(query, parameters).fetchall())
        return [_kept_set(row) for row in found]


def store_sets_in(
    db: sqlite3.Connection, zone: str, sets: Sequence[OfferSet], now: Instant
) -> list[str]:
    """Keep sets within a transaction of somebody else's; say whose were kept."""
    gone = _erased_meanwhile(db, zone, sets)
    sets = [made for made in sets if made.user_id not in gone]
    new = [
        (
            made.day,
            made.user_id,
            zone,
            made.offered_at,
            made.expires_at,
            made.scoring,
            made.digest(),
        )
        for made in sets
    ]
    kept = set(
        db.execute(_ADD_SETS, {"sets": _json(new), "now": now, "apart": TOO_NEAR}).fetchall()
    )
    offers = [
        (
            *(made.day, made.user_id, rank, offer.candidate, offer.score, offer.tier),
            *msgspec.structs.astuple(offer.facts),
        )
        for made in sets
        if (made.day.isoformat(), made.user_id) in kept
        for rank, offer in enumerate(made.offers, 1)
    ]
    if offers:
        db.execute(_ADD_OFFERS, (_json(offers),))
    for day, user_id, rank, candidate, *_ in offers if gone else ():
        if candidate in gone:
            drop_offer(db, day.isoformat(), user_id, rank)
    return sorted(user_id for _, user_id in kept)


def _count_erased(db: sqlite3.Connection) -> int:
    (count,) = db.execute("SELECT count(*) FROM erased").fetchone()
    return int(count)


def _erased_meanwhile(db: sqlite3.Connection, zone: str, sets: Sequence[OfferSet]) -> set[str]:
    """Who is named in these sets and was erased while they were made."""
    named: dict[str, set[str]] = {}
    for made in sets:
        users = named.setdefault(made.day.isoformat(), set())
        users |= {made.user_id, *(offer.candidate for offer in made.offers)}
    return erased_since_frozen(db, zone, list(named.items()))


def _answer(
    db: sqlite3.Connection,
    user_id: str,
    candidate: str,
    day: date,
    expires_at: Instant,
    answer: Answer,
    now: Instant,
) -> Answered:
    key = (user_id, candidate, day.isoformat())
    given = db.execute(
        "SELECT answer FROM offer_answers WHERE user_id = ? AND candidate = ? AND day = ?", key
    ).fetchone()
    if given is not None:
        if given[0] != answer:
            raise AnswerGiven(f"the offer was answered with {given[0]} already")
        connection = _connection_of(db, user_id, candidate) if answer is Answer.ACCEPT else None
        return Answered(candidate, connection, opened=False)
    if expires_at <= now:
        raise OfferExpired("the offer has expired")
    db.execute(
        "INSERT INTO offer_answers (user_id, candidate, day, answer, answered_at)"
        " VALUES (?, ?, ?, ?, ?)",
        (*key, answer, now),
    )
    if answer is Answer.DECLINE or not _accepts(db, candidate, user_id):
        return Answered(candidate, None, opened=False)
    opened = db.execute(
        "INSERT INTO connections (a, b, opened_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (*pair_of(user_id, candidate), now),
    ).rowcount
    return Answered(candidate, _connection_of(db, user_id, candidate), opened=bool(opened))


def _accepts(db: sqlite3.Connection, user_id: str, candidate: str) -> bool:
    """Whether somebody's last word on another is an accept, and neither has blocked the other."""
    (accepts,) = db.execute(
        "SELECT coalesce((SELECT answer FROM offer_answers WHERE user_id = ?1 AND candidate = ?2"
        " ORDER BY day DESC LIMIT 1), '') = 'accept' AND NOT EXISTS (SELECT 1 FROM blocks"
        " WHERE (blocker, blocked) IN (VALUES (?1, ?2), (?2, ?1)))",
        (user_id, candidate),
    ).fetchone()
    return bool(accepts)


def _connection_of(db: sqlite3.Connection, user_id: str, partner: str) -> Connection | None:
    row = db.execute(
        "SELECT number, a, b, opened_at FROM connections WHERE a = ? AND b = ?",
        pair_of(user_id, partner),
    ).fetchone()
    return None if row is None else _connection(row, user_id)


def _connection(row: _Row, user_id: str) -> Connection:
    number, a, b, opened_at = row
    return Connection(f"c{number}", b if user_id == a else a, opened_at)


def _kept_set(row: _Row) -> KeptSet:
    day, user_id, zone, offered_at, expires_at, scoring, digest, delivered_at, deliveries = row[:9]
    offers, answers = [], []
    for candidate, score, tier, years, shared, alike, km, lost, answer in msgspec.json.decode(
        row[9]
    ):
        facts = Facts(years, tuple(shared), alike, km, lost)
        offers.append(Offer(candidate, score, tier, facts))
        answers.append(None if answer is None else Answer(answer))
    made = OfferSet(
        user_id, date.fromisoformat(day), offered_at, expires_at, scoring, tuple(offers)
    )
    return KeptSet(made, zone, digest, delivered_at, deliveries, tuple(answers), row[10])


def _execute(db: sqlite3.Connection, sql: str, parameters: _Row) -> None:
    db.execute(sql, parameters)


def _json(values: list[Any]) -> str:
    return msgspec.json.encode(values).decode()
