"""The calendar, the jobs that make offers, their delivery and their answers."""

from __future__ import annotations

from yoked_actor.actors.offers.calendar import Calendar
from yoked_actor.actors.offers.check import NoRun, Verdict, verify_run
from yoked_actor.actors.offers.connection_news import ConnectionNews
from yoked_actor.actors.offers.delivery import OfferDelivery
from yoked_actor.actors.offers.give_way import GiveWay
from yoked_actor.actors.offers.turn import NoSuchRun, RequestedRun
from yoked_actor.actors.offers.user_offers import OpenedConnections, UserOffers
from yoked_actor.actors.offers.zone_jobs import MORNING_JOBS, EndedSet, OfferJobs, refreeze

__all__ = [
    "MORNING_JOBS",
    "Calendar",
    "ConnectionNews",
    "EndedSet",
    "GiveWay",
    "NoRun",
    "NoSuchRun",
    "OfferDelivery",
    "OfferJobs",
    "OpenedConnections",
    "RequestedRun",
    "UserOffers",
    "Verdict",
    "refreeze",
    "verify_run",
]
