"""Erasure and suspension of users, in the running server."""

from __future__ import annotations

from yoked_actor.actors.people.care import Care
from yoked_actor.actors.people.care_jobs import (
    erase_job,
    prune_store_job,
    refresh_job,
    register_care,
)
from yoked_actor.actors.people.erasing import erase_without_a_server

__all__ = [
    "Care",
    "erase_job",
    "erase_without_a_server",
    "prune_store_job",
    "refresh_job",
    "register_care",
]
