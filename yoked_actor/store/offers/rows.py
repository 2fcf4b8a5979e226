"""Sets of offers from the rows of `offers/sql/load_sets.sql`."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec

from yoked_actor.domain.offers import Answer, Facts, KeptSet, Offer, OfferSet, UnreadableSet
from yoked_actor.domain.time import to_datetime

Row = tuple[Any, ...]


class FactsRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The score and the facts of an offer. The candidate is stored in another column."""

    score: int
    tier: int
    years_apart: int
    shared: tuple[str, ...]
    likeness: int
    km: int
    nearness_lost: int


_decode_candidates = msgspec.json.Decoder(list[str]).decode
_decode_facts = msgspec.json.Decoder(list[FactsRow]).decode
_decode_answers = msgspec.json.Decoder(list[tuple[str, Answer]]).decode


def kept_set(row: Row) -> KeptSet:
    """A set from its row; raises `ValueError` or `msgspec.MsgspecError` when it is damaged."""
    day, user_id, zone, offered_at, expires_at, scoring, digest, delivered_at, deliveries = row[:9]
    for at in (offered_at, expires_at):
        to_datetime(at)  # raises OverflowError when it lies outside the calendar
    candidates = _decode_candidates(row[9])
    offers = tuple(
        Offer(
            *(candidate, one.score, one.tier),
            Facts(one.years_apart, one.shared, one.likeness, one.km, one.nearness_lost),
        )
        for candidate, one in zip(candidates, _decode_facts(row[10]), strict=True)
    )
    made = OfferSet(user_id, date.fromisoformat(day), offered_at, expires_at, scoring, offers)
    answers = dict(_decode_answers(row[11]))
    by_offer = tuple(answers.get(candidate) for candidate in candidates)
    return KeptSet(made, zone, digest, delivered_at, deliveries, by_offer, *row[12:])


def unreadable_set(row: Row) -> UnreadableSet | None:
    """Why a row cannot be decoded; None when it can."""
    try:
        kept_set(row)
    except (ValueError, OverflowError, msgspec.MsgspecError) as error:
        return UnreadableSet(row[1], f"the stored set cannot be read: {error}")
    return None
