"""A place in line, as a value, and where it stands in the order of a policy."""

from __future__ import annotations

import msgspec

from yoked_actor.domain.matching.limits import Tier
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A waiting user who can be paired."""

    person: Person
    waiting_since: Instant
    credit: int = 0
    skips: int = 0
    tier: Tier = Tier.EXACT

    @property
    def user_id(self) -> str:
        """The user of the ticket."""
        return self.person.user_id


class Standing(msgspec.Struct, frozen=True):
    """The standing of a ticket until `changes_at`."""

    key: int
    phase: int
    changes_at: Instant | None
