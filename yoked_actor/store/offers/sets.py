"""Writing sets of offers: encoded beforehand, many in one statement, the first one stands (R41).

A morning brings hundreds of thousands of offers, and each call into SQLite releases the interpreter
lock and has to acquire it again. So a set is encoded on the thread that made it, and the writer
stores many sets with few statements.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from yoked_actor.domain.offers import OfferSet
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Tx, insert_rows, statement
from yoked_actor.store.jobs import JointEffect
from yoked_actor.store.offers.erased import drop_offer, was_frozen_before, without_a_profile
from yoked_actor.store.offers.pool import TOO_RECENT

_REFUSED = statement("offers/refused_sets")
_ADD_SETS = statement("offers/add_sets")
_ADD_OFFERS = statement("offers/add_offers")

_encode = msgspec.json.Encoder().encode


class PreparedSet(msgspec.Struct, frozen=True, gc=False):
    """A set, encoded as its rows in JSON."""

    user_id: str
    day: str
    """ISO 8601."""
    offered_at: Instant
    digest: str
    inputs: str | None
    offers: int
    set_row: bytes
    offer_rows: bytes
    """Without brackets, so that the rows of many sets can be joined. Values are plain."""


def prepare_set(zone: str, made: OfferSet, inputs: str | None = None) -> PreparedSet:
    """Encode a set. `inputs` is the digest of what it was made from."""
    digest, day, user_id = made.digest(), made.day.isoformat(), made.user_id
    offered_at = made.offered_at
    row = (day, user_id, zone, offered_at, made.expires_at, made.scoring, digest, inputs)
    rows = []
    rank = 0
    for offer in made.offers:
        rank += 1
        facts = offer.facts
        rows.append(
            (
                day,
                user_id,
                rank,
                offer.candidate,
                offer.score,
                offer.tier,
                facts.years_apart,
                _encoded_tags(facts.shared),
                facts.likeness,
                facts.km,
                facts.nearness_lost,
            )
        )
    return PreparedSet(
        user_id, day, offered_at, digest, inputs, rank, _encode(row), _encode(rows)[1:-1]
    )


@lru_cache(maxsize=4096)
def _encoded_tags(tags: tuple[str, ...]) -> str:
    """Tags in JSON. Many pairs share the same few tags, or none."""
    return _encode(tags).decode()


def store_prepared_in(tx: Tx, sets: Sequence[PreparedSet], now: Instant) -> set[str]:
    """Store sets of different users inside a transaction; returns whose were stored.

    No other process may store sets meanwhile: the transaction has to be alone. A user who was
    erased while the run was made gets no set, and is in none.
    """
    gone = _erased_meanwhile(tx, sets)
    left_out = gone | _refused(tx, sets)
    if left_out:
        sets = [one for one in sets if one.user_id not in left_out]
    stored_at = b",%d]" % now
    insert_rows(tx, _ADD_SETS, _array([one.set_row[:-1] + stored_at for one in sets]))
    rows = [one.offer_rows for one in sets if one.offers]
    insert_rows(tx, _ADD_OFFERS, _array(rows))
    for row in rows if gone else ():
        for day, user_id, rank, candidate, *_ in msgspec.json.decode(_array([row])):
            if candidate in gone:
                drop_offer(tx, day, user_id, rank)
    return {one.user_id for one in sets}


def _refused(tx: Tx, sets: Sequence[PreparedSet]) -> set[str]:
    """The users who have a set of the same day, or one too soon before or after it (R41)."""
    runs: defaultdict[tuple[str, Instant], list[str]] = defaultdict(list)
    for one in sets:
        runs[one.day, one.offered_at].append(one.user_id)
    refused: set[str] = set()
    for (day, offered_at), users in runs.items():
        asked = {
            "users": _encode(users).decode(),
            "day": day,
            "offered_at": offered_at,
            "apart": TOO_RECENT,
        }
        refused.update(user_id for (user_id,) in tx.execute(_REFUSED, asked).fetchall())
    return refused


def _erased_meanwhile(tx: Tx, sets: Sequence[PreparedSet]) -> set[str]:
    """The users in these sets who were erased since their run was frozen."""
    (last,) = tx.execute("SELECT max(at) FROM erased").fetchone()
    if last is None:
        return set()
    named: dict[tuple[str, str, str | None], list[PreparedSet]] = {}
    for one in sets:
        _, _, zone, *_ = msgspec.json.decode(one.set_row)
        named.setdefault((one.day, zone, one.inputs), []).append(one)
    gone: set[str] = set()
    for (day, zone, inputs), together in named.items():
        if was_frozen_before(tx, day, zone, inputs, last):
            users = {one.user_id for one in together}
            for one in together:
                rows = msgspec.json.decode(_array([one.offer_rows]))
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
    """Store sets of different users inside a transaction; returns whose were stored."""
    prepared = [prepare_set(zone, made, inputs) for made in sets]
    return sorted(store_prepared_in(tx, prepared, now))


class StoreSet(JointEffect):
    """The effect of a job that stores one set; the effects of many jobs are few statements."""

    __slots__ = ("_now", "is_kept", "prepared")

    def __init__(self, prepared: PreparedSet, now: Instant) -> None:
        self.prepared = prepared
        self._now = now
        self.is_kept = False
        """Whether it was stored: it is the first of its user and date."""

    @staticmethod
    def together(tx: Tx, effects: Sequence[StoreSet]) -> None:
        """Store all; of two sets of one user the first is stored, as one after the other."""
        left = list(effects)
        while left:
            first = {one.prepared.user_id: one for one in reversed(left)}
            kept = store_prepared_in(tx, [one.prepared for one in first.values()], left[0]._now)
            for user_id, one in first.items():
                one.is_kept = user_id in kept
            left = [one for one in left if first[one.prepared.user_id] is not one]


def _array(rows: Sequence[bytes]) -> bytes:
    return b"[" + b",".join(rows) + b"]"
