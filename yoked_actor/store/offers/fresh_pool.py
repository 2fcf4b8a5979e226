"""A pool that was just read from the database: encoded, decoded again, and ready to be stored."""

from __future__ import annotations

import zlib
from datetime import date

import msgspec

from yoked_actor.domain.offers import (
    FrozenPool,
    FrozenRun,
    OfferRules,
    canonical,
    content_digest,
    decode_pool,
)
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Row, Tx, statement
from yoked_actor.store.offers.errors import UnreadableRun
from yoked_actor.store.offers.parts import drop_parts_in
from yoked_actor.store.offers.pool import read_pool

_COMPRESSION_LEVEL = 1
_KEEP_POOL = statement("offers/keep_pool")


class FreshPool:
    """A pool that was read just now, and its rows."""

    def __init__(
        self,
        tx: Tx,
        zone: str,
        day: date,
        offered_at: Instant,
        expires_at: Instant,
        rules: OfferRules,
        rematch_after_days: float | None,
        now: Instant,
    ) -> None:
        self._erasures = _count_erased(tx)
        read = read_pool(tx, zone, day, offered_at, expires_at, rules, rematch_after_days)
        content = canonical(read)
        # A pool that cannot be decoded must not be stored: every job that needs it would fail.
        self.pool: FrozenPool = decode_pool(content)
        self._rules = rules
        self._inputs = content_digest(content, rules)
        receivers = sum(person.receives for person in self.pool.people)
        key, text = (day.isoformat(), zone), msgspec.json.encode(rules).decode()
        self._run_row: Row = (
            *(*key, offered_at, expires_at, now, text, self._inputs, receivers),
            rematch_after_days,
        )
        self._pool_row: Row = (*key, zlib.compress(content, _COMPRESSION_LEVEL))

    def keep(self, tx: Tx, run_statement: str) -> bool | None:
        """Store it; False when another one is stored, None when it has to be read again."""
        if _count_erased(tx) != self._erasures:
            return None  # the pool may name a user who was erased since
        if not tx.execute(run_statement, self._run_row).rowcount:
            return False
        tx.execute(_KEEP_POOL, self._pool_row)
        drop_parts_in(tx, *self._pool_row[:2])
        return True

    def run(self, erased: int, refrozen: int) -> FrozenRun:
        """The run that is made from it."""
        pool = self.pool
        return FrozenRun(
            pool.day, pool.zone, self._rules, self._inputs, None, pool, erased, refrozen
        )


def rules_of(zone: str, day: date, text: str) -> OfferRules:
    """The rules of a run, or `UnreadableRun`."""
    try:
        return msgspec.json.decode(text, type=OfferRules)
    except msgspec.MsgspecError as error:
        raise UnreadableRun(zone, day, f"its rules: {error}") from error


def pool_of(zone: str, day: date, content: bytes) -> FrozenPool:
    """A stored pool, or `UnreadableRun`."""
    try:
        return decode_pool(zlib.decompress(content))
    except (zlib.error, msgspec.MsgspecError, ValueError) as error:
        raise UnreadableRun(zone, day, str(error)) from error


def _count_erased(tx: Tx) -> int:
    (count,) = tx.execute("SELECT count(*) FROM erased").fetchone()
    return int(count)
