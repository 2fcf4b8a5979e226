"""Offers, answers, pairs and the calendar in the database."""

from __future__ import annotations

from yoked_actor.store.offers.calendar import (
    CalendarStore,
    CalendarTable,
    SqliteCalendar,
    finish_zone_run,
)
from yoked_actor.store.offers.erased import drop_offer
from yoked_actor.store.offers.port import (
    Answer,
    AnswerGiven,
    Connection,
    Faces,
    FrozenRun,
    KeptSet,
    NoSuchOffer,
    NoSuchRun,
    OfferExpired,
    Offers,
    RunProgress,
    RunVersion,
    UnreadableRun,
)
from yoked_actor.store.offers.rows import kept_set
from yoked_actor.store.offers.sets import PreparedSet, StoreSet, prepare_set
from yoked_actor.store.offers.sqlite import SqliteOffers

__all__ = [
    "Answer",
    "AnswerGiven",
    "CalendarStore",
    "CalendarTable",
    "Connection",
    "Faces",
    "FrozenRun",
    "KeptSet",
    "NoSuchOffer",
    "NoSuchRun",
    "OfferExpired",
    "Offers",
    "PreparedSet",
    "RunProgress",
    "RunVersion",
    "SqliteCalendar",
    "SqliteOffers",
    "StoreSet",
    "UnreadableRun",
    "drop_offer",
    "finish_zone_run",
    "kept_set",
    "prepare_set",
]
