"""Erasure and suspension of users, and warnings to them."""

from __future__ import annotations

from yoked_actor.actors.people.erasure import Eraser, erase_offline
from yoked_actor.actors.people.jobs import (
    erase_job,
    prune_store_job,
    refresh_job,
    register_people_jobs,
)
from yoked_actor.actors.people.suspension import SuspensionEnforcer
from yoked_actor.actors.people.warnings import WarningDelivery

__all__ = [
    "Eraser",
    "SuspensionEnforcer",
    "WarningDelivery",
    "erase_job",
    "erase_offline",
    "prune_store_job",
    "refresh_job",
    "register_people_jobs",
]
