"""Recently met users, and the answers to "stay in touch?"."""

from __future__ import annotations

from yoked_actor.actors.contacts.user_contacts import MetView, UserContacts

__all__ = ["MetView", "UserContacts"]
