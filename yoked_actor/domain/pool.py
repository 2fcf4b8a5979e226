"""The waiting users who can be paired now, and the best partner among ALL of them.

Tickets stand in groups of equal (gender, seeking), so that a seeker looks only at groups in which
everyone suits by gender. A group keeps two orders that time does not change: by age of the ticket,
which is the order of the starved, and by credit then age, which is the order of the rest. A search
walks each and stops at the first ticket that is acceptable, which by construction is the best.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator

from yoked_actor.domain.fairness import FairQueue, Ticket
from yoked_actor.domain.instants import Instant
from yoked_actor.domain.people import Person

GroupKey = tuple[str, frozenset[str]]


class _Group:
    __slots__ = ("by_age", "by_credit")

    def __init__(self) -> None:
        self.by_age: list[tuple[int, str]] = []
        self.by_credit: list[tuple[int, int, str]] = []

    def add(self, ticket: Ticket) -> None:
        insort(self.by_age, (ticket.waiting_since, ticket.user_id))
        insort(self.by_credit, (-ticket.credit, ticket.waiting_since, ticket.user_id))

    def remove(self, ticket: Ticket) -> None:
        age = (ticket.waiting_since, ticket.user_id)
        del self.by_age[bisect_left(self.by_age, age)]
        credit = (-ticket.credit, ticket.waiting_since, ticket.user_id)
        del self.by_credit[bisect_left(self.by_credit, credit)]


class Pool:
    """All tickets, indexed. The lobby is its only owner."""

    def __init__(self, policy: FairQueue) -> None:
        self._policy = policy
        self._tickets: dict[str, Ticket] = {}
        self._groups: dict[GroupKey, _Group] = {}

    def __len__(self) -> int:
        return len(self._tickets)

    def __contains__(self, user_id: str) -> bool:
        return user_id in self._tickets

    def get(self, user_id: str) -> Ticket | None:
        """The ticket of a user, if they can be paired."""
        return self._tickets.get(user_id)

    def tickets(self) -> Iterator[Ticket]:
        """Every ticket, in no particular order."""
        return iter(self._tickets.values())

    def put(self, ticket: Ticket) -> None:
        """Add a ticket, or replace the one its user had."""
        if self._tickets.get(ticket.user_id) == ticket:
            return
        self.discard(ticket.user_id)
        self._tickets[ticket.user_id] = ticket
        key = _group_of(ticket.person)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = _Group()
        group.add(ticket)

    def discard(self, user_id: str) -> None:
        """Take a user's ticket out, if there is one."""
        ticket = self._tickets.pop(user_id, None)
        if ticket is None:
            return
        key = _group_of(ticket.person)
        group = self._groups[key]
        group.remove(ticket)
        if not group.by_age:
            del self._groups[key]

    def in_order(self, user_ids: Iterable[str], now: Instant) -> list[Ticket]:
        """The tickets of some users, in the order of the policy."""
        tickets = [self._tickets[user_id] for user_id in user_ids if user_id in self._tickets]
        if len(tickets) > 1:
            tickets.sort(key=lambda ticket: self._policy.key(ticket, now))
        return tickets

    def best_partner(
        self, seeker: Ticket, now: Instant, acceptable: Callable[[Ticket], bool]
    ) -> Ticket | None:
        """The first in the order of the policy among all whom the seeker may meet."""
        starved_before = self._policy.starved_before(now)
        groups = [group for key, group in self._groups.items() if _may_suit(seeker.person, key)]
        for best_of in (self._oldest_starved, self._best_fresh):
            found = [best_of(group, starved_before, acceptable) for group in groups]
            tickets = [ticket for ticket in found if ticket is not None]
            if tickets:
                return min(tickets, key=lambda ticket: self._policy.key(ticket, now))
        return None

    def _oldest_starved(
        self, group: _Group, starved_before: Instant, acceptable: Callable[[Ticket], bool]
    ) -> Ticket | None:
        for waiting_since, user_id in group.by_age:
            if waiting_since > starved_before:
                return None
            ticket = self._tickets[user_id]
            if acceptable(ticket):
                return ticket
        return None

    def _best_fresh(
        self, group: _Group, starved_before: Instant, acceptable: Callable[[Ticket], bool]
    ) -> Ticket | None:
        for _, waiting_since, user_id in group.by_credit:
            if waiting_since <= starved_before:
                continue
            ticket = self._tickets[user_id]
            if acceptable(ticket):
                return ticket
        return None


def _group_of(person: Person) -> GroupKey:
    return (person.gender, person.seeking)


def _may_suit(seeker: Person, group: GroupKey) -> bool:
    gender, seeking = group
    return gender in seeker.seeking and seeker.gender in seeking
