"""Daily offers in the same SQLite file, behind the same writer, as everything else.

A zone's pool is read through a connection of its own: it takes seconds for a large zone, and nobody
who comes in may wait for that. It is kept, deflated, until `drop_pools`, so that a run that was cut
off goes on from what it began with, and can be made again to be verified.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Protocol, TypeVar

import msgspec

from yoked_actor.domain.frozen_pool import (
    FrozenPool,
    OfferRules,
    canonical,
    content_digest,
    thawed,
)
from yoked_actor.domain.instants import MICROSECONDS, Instant
from yoked_actor.domain.offers import Offer, OfferSet
from yoked_actor.domain.records import TOMBSTONE
from yoked_actor.domain.scoring import Facts
from yoked_actor.store import rows
from yoked_actor.store.offer_answers import connection_of, take_answer
from yoked_actor.store.offer_pool import read_pool
from yoked_actor.store.offer_sets import store_sets_in
from yoked_actor.store.offers import (
    Answer,
    Answered,
    Connection,
    Faces,
    FrozenRun,
    KeptSet,
    NoSuchOffer,
    RunProgress,
)
from yoked_actor.store.opening import statement
from yoked_actor.store.readable import read_rows
from yoked_actor.store.writer import Writer

T = TypeVar("T")
MOST_SEARCHED = 40
"""An offer is looked for in so many of a user's newest sets."""

_LOAD_SETS = statement("offer_load_sets")
_PROGRESS = statement("offer_progress")
_COUNT_DOUBLED = statement("offer_count_doubled")
_UNDELIVERED = statement("offer_undelivered")
_RECORD = statement("offer_record_deliveries")
_FACES = statement("offer_faces")
_BLOCKED = statement("offer_blocked")
_DEFLATION = 1
_LONGEST = 72 * 3600 * MICROSECONDS
"""No set lasts longer: two runs of a zone are never further apart."""

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
            content = canonical(pool)
            run = _fresh_run(pool, content, rules, erased)
            receivers = sum(person.receives for person in pool.people)
            key, text = (day.isoformat(), zone), msgspec.json.encode(rules).decode()
            row = (*key, offered_at, expires_at, now, text, run.inputs, receivers)
            return run, (row, (*key, zlib.compress(content, _DEFLATION))), erasures

        run, (run_row, pool_row), erasures = await self._read_long(prepare)

        def keep(db: sqlite3.Connection) -> bool | None:
            if _count_erased(db) != erasures:
                return None  # somebody may be in the pool who must not be in the file any more
            added = db.execute(
                "INSERT INTO offer_runs (day, zone, offered_at, expires_at, frozen_at, rules,"
                " inputs, receivers) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
                " frozen_at = excluded.frozen_at, rules = excluded.rules, inputs = excluded.inputs,"
                " receivers = excluded.receivers WHERE erased > 0 AND NOT"
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

    async def freeze_again(self, zone: str, day: date) -> FrozenRun:
        """Freeze a run anew, by its own rules, that has lost its pool to an erasure."""
        key = (day.isoformat(), zone)
        offered_at, expires_at, rules, frozen_at = await self._read(
            lambda db: db.execute(
                "SELECT offered_at, expires_at, rules, frozen_at FROM offer_runs"
                " WHERE day = ? AND zone = ?",
                key,
            ).fetchone()
        )
        decoded = msgspec.json.decode(rules, type=OfferRules)
        return await self.freeze_pool(zone, day, offered_at, expires_at, decoded, frozen_at)

    async def preview_pool(
        self,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        rematch_after_days: float | None = None,
    ) -> FrozenRun:
        """What a run would be made from if it were frozen now; nothing is kept."""

        def prepare(db: sqlite3.Connection) -> FrozenRun:
            pool = read_pool(db, zone, day, offered_at, expires_at, rules, rematch_after_days)
            return _fresh_run(pool, canonical(pool), rules)

        return await self._read_long(prepare)

    async def progress(self, zone: str, day: date) -> RunProgress | None:
        """How far a run has come; None when it was never started."""
        asked = {"zone": zone, "day": day.isoformat()}
        row = await self._read(lambda db: db.execute(_PROGRESS, asked).fetchone())
        return None if row is None else RunProgress(row[0] == "done", *row[1:])

    async def run_days(self, zone: str | None, day: date | None) -> list[tuple[str, date]]:
        """The runs that were frozen, of one zone or date if need be; the newest first."""
        asked = (zone, None if day is None else day.isoformat())
        rows = await self._read(
            lambda db: db.execute(
                "SELECT zone, day FROM offer_runs WHERE (?1 IS NULL OR zone = ?1)"
                " AND (?2 IS NULL OR day = ?2) ORDER BY day DESC, zone",
                asked,
            ).fetchall()
        )
        return [(name, date.fromisoformat(text)) for name, text in rows]

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
        await self.record_deliveries([(user_id, day)], now)

    async def undelivered(self, user_ids: Sequence[str], now: Instant) -> list[KeptSet]:
        """The sets of some users that have not expired and that they were never told of."""
        wanted = {"users": _json(list(user_ids)), "now": now, "oldest": now - _LONGEST}
        found = await self._read(
            lambda db: db.execute(f"{_LOAD_SETS} {_UNDELIVERED}", wanted).fetchall()
        )
        return read_rows(found, _kept_set, "offer_sets")

    async def record_deliveries(self, sets: Sequence[tuple[str, date]], now: Instant) -> None:
        """Note that users were told of sets, given as (user, day), all or none."""
        told = {"sets": _json([(day, user_id) for user_id, day in sets]), "now": now}
        await self._writer.write(lambda db: _execute(db, _RECORD, told), atomic=True)

    async def faces(self, pairs: Collection[tuple[str, str]], now: Instant) -> Faces:
        """What is needed to show the second of each pair to the first; nobody suspended is in."""
        everybody = _json(sorted({user_id for pair in pairs for user_id in pair}))
        wanted = {"users": everybody, "now": now}
        asked = _json(list(pairs))

        def load(db: sqlite3.Connection) -> Faces:
            people = read_rows(db.execute(_FACES, wanted), rows.person_of, "people")
            blocked = frozenset(db.execute(_BLOCKED, (asked,)))
            return Faces({person.user_id: person for person in people}, blocked)

        return await self._read(load)

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
            lambda db: take_answer(db, user_id, candidate, day, expires_at, answer, now)
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
        return [connection_of(row, user_id) for row in found]

    async def count_doubled(self, zone: str, day: date) -> int:
        """How many offers of a run came too soon after the same one, by the run's own rules."""

        def count(db: sqlite3.Connection) -> int:
            row = db.execute(
                "SELECT rules FROM offer_runs WHERE day = ? AND zone = ?", (day.isoformat(), zone)
            ).fetchone()
            if row is None:
                return 0
            back = msgspec.json.decode(row[0], type=OfferRules).not_again_days
            days = [(day - timedelta(days=n)).isoformat() for n in range(back + 1)]
            asked = {"days": _json(days), "day": day.isoformat(), "zone": zone}
            (found,) = db.execute(_COUNT_DOUBLED, asked).fetchone()
            return int(found)

        return await self._read_long(count)

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
        return read_rows(found, _kept_set, "offer_sets")


def _fresh_run(pool: FrozenPool, content: bytes, rules: OfferRules, erased: int = 0) -> FrozenRun:
    digest = content_digest(content, rules)
    return FrozenRun(pool.day, pool.zone, rules, digest, None, pool, erased)


def _count_erased(db: sqlite3.Connection) -> int:
    (count,) = db.execute("SELECT count(*) FROM erased").fetchone()
    return int(count)


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


def _execute(db: sqlite3.Connection, sql: str, parameters: _Row | Mapping[str, Any]) -> None:
    db.execute(sql, parameters)


def _json(values: list[Any]) -> str:
    return msgspec.json.encode(values).decode()
