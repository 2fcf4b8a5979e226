"""Who goes first (R10, policy `fair_queue`).

A waiter past the starvation edge goes before everyone who is not, oldest first. Among the others
fairness credit counts, then the time of the spin, then the user id, so that the order is total.
"""

from __future__ import annotations

import msgspec

from yoked_actor.domain.instants import MICROSECONDS, Instant
from yoked_actor.domain.people import Person

OrderKey = tuple[int, int, int, str]


class Ticket(msgspec.Struct, frozen=True, gc=False):
    """A waiting user who can be paired."""

    person: Person
    waiting_since: Instant
    credit: int

    @property
    def user_id(self) -> str:
        """Whose ticket it is."""
        return self.person.user_id


class FairQueue:
    """The order of policy `fair_queue`: smaller keys go first."""

    def __init__(self, starvation_after_s: float) -> None:
        self._starvation = round(starvation_after_s * MICROSECONDS)

    def starved_before(self, now: Instant) -> Instant:
        """Who waits since this instant or longer is starved."""
        return now - self._starvation

    def key(self, ticket: Ticket, now: Instant) -> OrderKey:
        """Where a ticket stands in the order at an instant."""
        if ticket.waiting_since <= self.starved_before(now):
            return (0, 0, ticket.waiting_since, ticket.user_id)
        return (1, -ticket.credit, ticket.waiting_since, ticket.user_id)
