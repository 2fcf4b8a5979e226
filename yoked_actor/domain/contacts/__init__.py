"""Whom a user has met, and whether both want to stay in touch after a date (R25, R26)."""

from __future__ import annotations

from yoked_actor.domain.contacts.meetings import Meeting, Touch, Touched, TouchWindow

__all__ = ["Meeting", "Touch", "TouchWindow", "Touched"]
