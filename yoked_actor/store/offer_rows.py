"""Sets of offers from the rows of `offer_load_sets.sql`. One that is damaged stops no other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import msgspec
import structlog

from yoked_actor.domain.offers import Offer, OfferSet
from yoked_actor.domain.scoring import Facts
from yoked_actor.store.offers import Answer, KeptSet, UnreadableSet

Row = tuple[Any, ...]

_log = structlog.get_logger()


class _OfferRow(msgspec.Struct, frozen=True, array_like=True):
    """An offer and its answer, as `offer_load_sets.sql` gives them."""

    candidate: str
    score: int
    tier: int
    years_apart: int
    shared: str
    """JSON in JSON: text that is damaged must not fail the query for everybody else."""
    likeness: int
    km: int
    nearness_lost: int
    answer: Answer | None


_decode_offers = msgspec.json.Decoder(list[_OfferRow]).decode
_decode_tags = msgspec.json.Decoder(tuple[str, ...]).decode


def kept_set(row: Row) -> KeptSet | UnreadableSet:
    """A set from its row, or why it is none."""
    day, user_id, zone, offered_at, expires_at, scoring, digest, delivered_at, deliveries = row[:9]
    try:
        found = _decode_offers(row[9])
        offers = tuple(
            Offer(
                one.candidate,
                one.score,
                one.tier,
                Facts(
                    one.years_apart,
                    _decode_tags(one.shared),
                    one.likeness,
                    one.km,
                    one.nearness_lost,
                ),
            )
            for one in found
        )
        made = OfferSet(user_id, date.fromisoformat(day), offered_at, expires_at, scoring, offers)
    except (msgspec.MsgspecError, ValueError) as error:
        return UnreadableSet(user_id, f"the stored set cannot be read: {error}")
    answers = tuple(one.answer for one in found)
    return KeptSet(made, zone, digest, delivered_at, deliveries, answers, *row[10:])


def readable_sets(found: Iterable[Row]) -> list[KeptSet]:
    """Sets from their rows; one that cannot be decoded is logged, and left out."""
    sets = []
    for row in found:
        kept = kept_set(row)
        if isinstance(kept, KeptSet):
            sets.append(kept)
        else:
            _log.error("offer_set_unreadable", user_id=kept.user_id, date=row[0])
    return sets
