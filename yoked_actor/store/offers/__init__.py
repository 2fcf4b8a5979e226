"""Offers, answers, pairs and the calendar in the database."""

from __future__ import annotations

from yoked_actor.store.offers.answers import connection_between, is_suspended
from yoked_actor.store.offers.calendar import (
    Calendar,
    CalendarTable,
    finish_zone_run,
)
from yoked_actor.store.offers.erased import drop_offer
from yoked_actor.store.offers.errors import (
    AnswerGiven,
    NoSuchOffer,
    NoSuchRun,
    OfferExpired,
    UnreadableRun,
)
from yoked_actor.store.offers.offers import Offers
from yoked_actor.store.offers.parts import RunPart, drop_parts_in, parts_of
from yoked_actor.store.offers.rows import kept_set
from yoked_actor.store.offers.sets import PreparedSet, StoreSet, prepare_set

__all__ = [
    "AnswerGiven",
    "Calendar",
    "CalendarTable",
    "NoSuchOffer",
    "NoSuchRun",
    "OfferExpired",
    "Offers",
    "PreparedSet",
    "RunPart",
    "StoreSet",
    "UnreadableRun",
    "connection_between",
    "drop_offer",
    "drop_parts_in",
    "finish_zone_run",
    "is_suspended",
    "kept_set",
    "parts_of",
    "prepare_set",
]
