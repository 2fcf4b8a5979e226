"""Sets of offers from the rows of `offers/sql/load_sets.sql`."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec

from yoked_actor.domain.offers import Answer, Facts, KeptSet, Offer, OfferSet, UnreadableSet
from yoked_actor.domain.time import to_datetime

Row = tuple[Any, ...]


class _OfferRow(msgspec.Struct, frozen=True, array_like=True):
    """An offer and its answer, as `offers/sql/load_sets.sql` returns them."""

    candidate: str
    score: int
    tier: int
    years_apart: int
    shared: str
    """JSON in JSON: damaged text must not fail the query for the other rows."""
    likeness: int
    km: int
    nearness_lost: int
    answer: Answer | None


_decode_offers = msgspec.json.Decoder(list[_OfferRow]).decode
_decode_tags = msgspec.json.Decoder(tuple[str, ...]).decode


def kept_set(row: Row) -> KeptSet:
    """A set from its row; raises `ValueError` or `msgspec.MsgspecError` when it is damaged."""
    day, user_id, zone, offered_at, expires_at, scoring, digest, delivered_at, deliveries = row[:9]
    for at in (offered_at, expires_at):
        to_datetime(at)  # raises OverflowError when it lies outside the calendar
    found = _decode_offers(row[9])
    offers = tuple(
        Offer(
            *(one.candidate, one.score, one.tier),
            Facts(
                *(one.years_apart, _decode_tags(one.shared), one.likeness),
                *(one.km, one.nearness_lost),
            ),
        )
        for one in found
    )
    made = OfferSet(user_id, date.fromisoformat(day), offered_at, expires_at, scoring, offers)
    answers = tuple(one.answer for one in found)
    return KeptSet(made, zone, digest, delivered_at, deliveries, answers, *row[10:])


def unreadable_set(row: Row) -> UnreadableSet | None:
    """Why a row cannot be decoded; None when it can."""
    try:
        kept_set(row)
    except (ValueError, OverflowError, msgspec.MsgspecError) as error:
        return UnreadableSet(row[1], f"the stored set cannot be read: {error}")
    return None
