"""What a zone's run of offers is made from, in SQLite: frozen once, stored, read back.

A pool is read through a connection of its own: it takes seconds for a large zone, and no command of
a user may wait for that. It is kept, deflated, until `drop_pools`, so that a run that was cut off
goes on from what it began with, and can be made again to be verified. What is stored was read back
before: a pool that cannot be decoded fails the job that freezes it, which is tried again. A stored
pool that cannot be read all the same raises `UnreadableRun`; `refreeze` replaces it.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from functools import partial
from typing import Any, Protocol, TypeVar

import msgspec

from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.offers import FrozenPool, OfferRules, canonical, content_digest, thawed
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Writer, statement
from yoked_actor.store.jobs import enqueue_in
from yoked_actor.store.offers.pool import read_pool
from yoked_actor.store.offers.port import (
    FrozenRun,
    NoSuchRun,
    RunProgress,
    RunVersion,
    UnreadableRun,
)

T = TypeVar("T")
_PROGRESS = statement("offers/progress")
_ADD_RUN = statement("offers/add_run")
_REPLACE_RUN = statement("offers/replace_run")
_LOAD_RUN = statement("offers/load_run")
_DEFLATION = 1

_Row = tuple[Any, ...]


class Read(Protocol):
    """Runs a query on a connection that reads."""

    def __call__(self, query: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteOfferRuns:
    """The frozen runs of `Offers` in an SQLite database."""

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
        """Freeze what a run is made from; the second caller gets what the first one froze."""
        frozen = await self.load_run(zone, day)
        if frozen is not None and not frozen.is_to_be_frozen_again:
            return frozen
        erased = 0 if frozen is None else frozen.erased
        refrozen = 0 if frozen is None else frozen.refrozen
        while True:
            fresh = await self._read_long(
                lambda db: _Fresh(
                    db, zone, day, offered_at, expires_at, rules, rematch_after_days, now
                )
            )
            kept = await self._writer.write(partial(fresh.keep, statement=_ADD_RUN))
            if kept:
                return fresh.run(erased, refrozen)
            if kept is not None:
                break
        first = await self.load_run(zone, day)
        assert first is not None
        return first

    async def freeze_again(self, zone: str, day: date) -> FrozenRun:
        """Freeze a run anew, by its own rules, that has lost its pool to an erasure."""
        key = (day.isoformat(), zone)
        row = await self._read(
            lambda db: db.execute(
                "SELECT offered_at, expires_at, rules, frozen_at, rematch_after_days"
                " FROM offer_runs WHERE day = ? AND zone = ?",
                key,
            ).fetchone()
        )
        offered_at, expires_at, text, frozen_at, rematch_after_days = row
        rules = _rules_of(zone, day, text)
        return await self.freeze_pool(
            zone, day, offered_at, expires_at, rules, frozen_at, rematch_after_days
        )

    async def refreeze(
        self,
        zone: str,
        day: date,
        rules: OfferRules,
        now: Instant,
        rematch_after_days: float | None,
        then: Callable[[FrozenRun], Sequence[NewJob]],
    ) -> FrozenRun:
        """Replace what a run is made from, readable or not, by the people of this moment.

        The instants of the run stay as they are, and so do sets that are stored: their users
        receive none from the new pool. `then` gives jobs that are enqueued in the same transaction.
        """
        key = (day.isoformat(), zone)
        row = await self._read(
            lambda db: db.execute(
                "SELECT offered_at, expires_at FROM offer_runs WHERE day = ? AND zone = ?", key
            ).fetchone()
        )
        if row is None:
            raise NoSuchRun(f"the run of {day} in {zone} was never frozen")
        offered_at, expires_at = row
        while True:
            fresh = await self._read_long(
                lambda db: _Fresh(
                    db, zone, day, offered_at, expires_at, rules, rematch_after_days, now
                )
            )

            def replace(db: sqlite3.Connection, fresh: _Fresh = fresh) -> FrozenRun | None:
                kept = fresh.keep(db, _REPLACE_RUN)
                if kept is None:
                    return None
                if not kept:
                    raise NoSuchRun(f"the run of {day} in {zone} is gone")
                (refrozen,) = db.execute(
                    "SELECT refrozen FROM offer_runs WHERE day = ? AND zone = ?", key
                ).fetchone()
                run = fresh.run(0, refrozen)
                enqueue_in(db, then(run), now)
                return run

            run = await self._writer.write(replace)
            if run is not None:
                return run

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
        fresh = await self._read_long(
            lambda db: _Fresh(
                db, zone, day, offered_at, expires_at, rules, rematch_after_days, offered_at
            )
        )
        return fresh.run(0, 0)

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
        """What a run is made from, if it was frozen; `UnreadableRun` when it cannot be decoded."""

        def load(db: sqlite3.Connection) -> FrozenRun | None:
            row = db.execute(_LOAD_RUN, (day.isoformat(), zone)).fetchone()
            if row is None:
                return None
            text, inputs, outputs, content, erased, refrozen = row
            rules = _rules_of(zone, day, text)
            pool = None if content is None else _pool_of(zone, day, content)
            return FrozenRun(day, zone, rules, inputs, outputs, pool, erased, refrozen)

        return await self._read_long(load)

    async def load_version(self, zone: str, day: date) -> RunVersion | None:
        """Which freezing of a run counts now; None when it was never frozen."""
        key = (day.isoformat(), zone)
        row = await self._read(
            lambda db: db.execute(
                "SELECT inputs, refrozen, erased FROM offer_runs WHERE day = ? AND zone = ?", key
            ).fetchone()
        )
        return None if row is None else RunVersion(*row)

    async def record_outputs(self, zone: str, day: date, inputs: str, digest: str) -> None:
        """Keep the digest of all sets that were made from these inputs; the first one stands."""
        row = (digest, day.isoformat(), zone, inputs)

        def record(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE offer_runs SET outputs = coalesce(outputs, ?)"
                " WHERE day = ? AND zone = ? AND inputs = ?",
                row,
            )

        await self._writer.write(record, atomic=True)

    async def drop_pools(self, before: date) -> int:
        """Drop the pools of all runs before a date; say how many."""
        row = (before.isoformat(),)
        return await self._writer.write(
            lambda db: db.execute("DELETE FROM offer_pools WHERE day < ?", row).rowcount,
            atomic=True,
        )


class _Fresh:
    """A pool that was read just now, encoded, and decoded again."""

    def __init__(
        self,
        db: sqlite3.Connection,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        rematch_after_days: float | None,
        now: Instant,
    ) -> None:
        self._erasures = _count_erased(db)
        read = read_pool(db, zone, day, offered_at, expires_at, rules, rematch_after_days)
        content = canonical(read)
        # A pool that cannot be read back must not be stored: whoever needs it would fail for ever.
        self.pool: FrozenPool = thawed(content)
        self._rules = rules
        self._inputs = content_digest(content, rules)
        receivers = sum(person.receives for person in self.pool.people)
        key, text = (day.isoformat(), zone), msgspec.json.encode(rules).decode()
        self._run_row: _Row = (
            *(*key, offered_at, expires_at, now, text, self._inputs, receivers),
            rematch_after_days,
        )
        self._pool_row: _Row = (*key, zlib.compress(content, _DEFLATION))

    def keep(self, db: sqlite3.Connection, statement: str) -> bool | None:
        """Store it within a transaction; say whether it counts. None: it has to be read again."""
        if _count_erased(db) != self._erasures:
            return None  # somebody may be in the pool who must not be in the file any more
        if not db.execute(statement, self._run_row).rowcount:
            return False
        db.execute(
            "INSERT INTO offer_pools (day, zone, content) VALUES (?, ?, ?)"
            # A new number: an erasure that is under way looks at pools with greater numbers.
            " ON CONFLICT (day, zone) DO UPDATE SET content = excluded.content,"
            " number = (SELECT max(number) + 1 FROM offer_pools)",
            self._pool_row,
        )
        return True

    def run(self, erased: int, refrozen: int) -> FrozenRun:
        """The run that is made from it."""
        pool = self.pool
        return FrozenRun(
            pool.day, pool.zone, self._rules, self._inputs, None, pool, erased, refrozen
        )


def _rules_of(zone: str, day: date, text: str) -> OfferRules:
    try:
        return msgspec.json.decode(text, type=OfferRules)
    except msgspec.MsgspecError as error:
        raise UnreadableRun(zone, day, f"its rules: {error}") from error


def _pool_of(zone: str, day: date, content: bytes) -> FrozenPool:
    try:
        return thawed(zlib.decompress(content))
    except (zlib.error, msgspec.MsgspecError, ValueError) as error:
        raise UnreadableRun(zone, day, str(error)) from error


def _count_erased(db: sqlite3.Connection) -> int:
    (count,) = db.execute("SELECT count(*) FROM erased").fetchone()
    return int(count)
