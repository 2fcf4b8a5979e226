"""Writing sets of offers: prepared beforehand, many in one statement, the first one stands (R41).

A morning brings hundreds of thousands of offers, and each call into SQLite gives up the interpreter
lock and has to win it back. So a set is turned into text where it was made, on a thread that nobody
waits for, and what the writer does with a hundred of them are two statements.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from yoked_actor.domain.offers import OfferSet
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, statement
from yoked_actor.store.offers.erased import drop_offer, was_frozen_before, without_a_profile
from yoked_actor.store.offers.pool import TOO_NEAR

_ADD_SETS = statement("offers/add_sets")
_ADD_OFFERS = statement("offers/add_offers")

_encode = msgspec.json.Encoder().encode


class PreparedSet(msgspec.Struct, frozen=True, gc=False):
    """A set as the rows that it will be, in JSON."""

    user_id: str
    offered_at: Instant
    digest: str
    inputs: str | None
    offers: int
    set_row: bytes
    offer_rows: bytes
    """Without brackets, so that those of many sets can be put in a row."""


def prepare_set(zone: str, made: OfferSet, inputs: str | None = None) -> PreparedSet:
    """Turn a set into its rows. `inputs` is the digest of what it was made from."""
    digest, day, user_id = made.digest(), made.day, made.user_id
    row = (
        *(day, user_id, zone, made.offered_at, made.expires_at, made.scoring),
        *(digest, inputs),
    )
    rows = [
        (
            *(day, user_id, rank, offer.candidate, offer.score, offer.tier),
            *msgspec.structs.astuple(offer.facts),
        )
        for rank, offer in enumerate(made.offers, 1)
    ]
    return PreparedSet(
        *(user_id, made.offered_at, digest, inputs, len(rows)),
        *(_encode(row), _encode(rows)[1:-1]),
    )


def store_prepared_in(tx: Tx, sets: Sequence[PreparedSet], now: Instant) -> set[str]:
    """Keep sets within a transaction that is under way; say whose were kept.

    Who was erased while the run was being made gets none, and is in none.
    """
    gone = _erased_meanwhile(tx, sets)
    sets = [one for one in sets if one.user_id not in gone]
    asked = {"sets": _array(one.set_row for one in sets), "now": now, "apart": TOO_NEAR}
    kept = {user_id for _, user_id in tx.execute(_ADD_SETS, asked).fetchall()}
    rows = [one.offer_rows for one in sets if one.offers and one.user_id in kept]
    if rows:
        tx.execute(_ADD_OFFERS, (_array(rows),))
    for row in rows if gone else ():
        for day, user_id, rank, candidate, *_ in msgspec.json.decode(b"[" + row + b"]"):
            if candidate in gone:
                drop_offer(tx, day, user_id, rank)
    return kept


def _erased_meanwhile(tx: Tx, sets: Sequence[PreparedSet]) -> set[str]:
    """Who is named in these sets, and was erased since their run was frozen."""
    (last,) = tx.execute("SELECT max(at) FROM erased").fetchone()
    if last is None:
        return set()
    named: dict[tuple[str, str, str | None], list[PreparedSet]] = {}
    for one in sets:
        day, _, zone, *_ = msgspec.json.decode(one.set_row)
        named.setdefault((day, zone, one.inputs), []).append(one)
    gone: set[str] = set()
    for (day, zone, inputs), together in named.items():
        if was_frozen_before(tx, day, zone, inputs, last):
            users = {one.user_id for one in together}
            for one in together:
                rows = msgspec.json.decode(b"[" + one.offer_rows + b"]")
                users |= {candidate for _, _, _, candidate, *_ in rows}
            gone |= without_a_profile(tx, users)
    return gone


def store_sets_in(
    tx: Tx,
    zone: str,
    sets: Sequence[OfferSet],
    now: Instant,
    inputs: str | None = None,
) -> list[str]:
    """Keep sets of different users within a transaction of somebody else's; say whose were kept."""
    prepared = [prepare_set(zone, made, inputs) for made in sets]
    return sorted(store_prepared_in(tx, prepared, now))


class StoreSet:
    """The effect of a job that stores one set; those of many jobs are one statement."""

    __slots__ = ("_now", "is_kept", "prepared")

    def __init__(self, prepared: PreparedSet, now: Instant) -> None:
        self.prepared = prepared
        self._now = now
        self.is_kept = False
        """Whether it was the first one of its user and date."""

    def __call__(self, tx: Tx) -> None:
        """Store it."""
        self.together(tx, [self])

    @staticmethod
    def together(tx: Tx, effects: Sequence[StoreSet]) -> None:
        """Store all of them; a user who is there twice has one that counts, as one by one."""
        left = list(effects)
        while left:
            first = {one.prepared.user_id: one for one in reversed(left)}
            kept = store_prepared_in(tx, [one.prepared for one in first.values()], left[0]._now)
            for user_id, one in first.items():
                one.is_kept = user_id in kept
            left = [one for one in left if first[one.prepared.user_id] is not one]


def _array(rows: Iterable[bytes]) -> str:
    return f"[{b','.join(rows).decode()}]"
