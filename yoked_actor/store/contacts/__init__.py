"""Whom users have met, and their answers after dates, in the database."""

from __future__ import annotations

from yoked_actor.store.contacts.contacts import Contacts
from yoked_actor.store.contacts.touch import NoSuchDate, TouchClosed, TouchGiven

__all__ = ["Contacts", "NoSuchDate", "TouchClosed", "TouchGiven"]
