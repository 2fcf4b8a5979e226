"""The calendar, the jobs of a morning, and the desk that delivers offers."""

from __future__ import annotations

from yoked_actor.actors.offers.calendar import Calendar
from yoked_actor.actors.offers.check import NoRun, Verdict, verify_run
from yoked_actor.actors.offers.delivery import OfferDelivery
from yoked_actor.actors.offers.desk import OfferDesk, OpenedConnections
from yoked_actor.actors.offers.turn import NoSuchRun, RequestedRun
from yoked_actor.actors.offers.zone_jobs import OfferJobs, refreeze

__all__ = [
    "Calendar",
    "NoRun",
    "NoSuchRun",
    "OfferDelivery",
    "OfferDesk",
    "OfferJobs",
    "OpenedConnections",
    "RequestedRun",
    "Verdict",
    "refreeze",
    "verify_run",
]
