"""The waiting users who can be paired now, and the best partner among ALL of them.

Most new tickets are paired in the same step. So a new ticket searches first, and is added to the
index (`admit`) only if its search found no partner.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from heapq import heapify, heappop, heappush
from typing import Final

from mypy_extensions import mypyc_attr

from yoked_actor.domain.matching.apart import Apart, Numbers
from yoked_actor.domain.matching.columns import Entry
from yoked_actor.domain.matching.fairness import EPOCH, Policy
from yoked_actor.domain.matching.group import Group
from yoked_actor.domain.matching.limits import Limits
from yoked_actor.domain.matching.search import Search
from yoked_actor.domain.matching.tiers import Tiers
from yoked_actor.domain.matching.waiting import Choice, Ticket
from yoked_actor.domain.people import (
    ADULT_AGE,
    WITHOUT_SECRET,
    Person,
    ShownPlaces,
    born_number,
)
from yoked_actor.domain.time import MICROSECONDS, Instant

_DAY: Final = 86_400 * MICROSECONDS
MOST_STALE_CHANGES: Final = 64
"""How many more entries of removed tickets than tickets the heap of changes may have."""

GroupKey = tuple[str, frozenset[str]]


# Tests derive from it: they compare each choice with a plain scan.
@mypyc_attr(allow_interpreted_subclasses=True)
class Pool:
    """All tickets, indexed. The lobby is its only owner."""

    def __init__(
        self,
        policy: Policy,
        tiers: Tiers,
        places: ShownPlaces = WITHOUT_SECRET,
        numbers: Numbers | None = None,
    ) -> None:
        """`numbers` are those of the users in each `Apart` that a search is given."""
        self._policy = policy
        self.numbers = Numbers() if numbers is None else numbers
        self._places = places
        self._tiers = tiers
        self._entries: dict[str, Entry] = {}
        self._arriving: dict[str, Ticket] = {}
        self._groups: dict[GroupKey, Group] = {}
        self._changes: list[tuple[Instant, str]] = []

    def __len__(self) -> int:
        return len(self._entries) + len(self._arriving)

    def __contains__(self, user_id: str) -> bool:
        return user_id in self._entries or user_id in self._arriving

    def get(self, user_id: str) -> Ticket | None:
        """The ticket of a user who can be paired, or None."""
        entry = self._entries.get(user_id)
        return self._arriving.get(user_id) if entry is None else entry.ticket

    def tickets(self) -> Iterator[Ticket]:
        """Every ticket, in no particular order."""
        yield from (entry.ticket for entry in self._entries.values())
        yield from self._arriving.values()

    def entry(self, user_id: str) -> Entry | None:
        """The entry of a user's ticket in its group, or None."""
        return self._entries.get(user_id)

    def suiting(self, person: Person) -> list[Group]:
        """The groups whose genders and seeking fit a person's, both ways."""
        gender, seeking = person.gender, person.seeking
        return [
            group
            for (theirs, sought), group in self._groups.items()
            if theirs in seeking and gender in sought
        ]

    def older(self, before: date, today: date) -> list[str]:
        """The users in the index whose age is not the same on two days."""
        return sorted(
            group.entries[row].user_id
            for group in self._groups.values()
            for row in group.columns.aged(born_number(before), born_number(today)).tolist()
        )

    def expect(self, ticket: Ticket, now: Instant) -> None:
        """Add a ticket that can search, and is found by others once it is admitted."""
        if ticket.user_id in self._entries:
            self.put(ticket, now)
        else:
            self._arriving[ticket.user_id] = ticket

    def admit(self, now: Instant) -> None:
        """Add all expected tickets to the index."""
        if self._arriving:
            arriving, self._arriving = self._arriving, {}
            for ticket in arriving.values():
                self.put(ticket, now)

    def put(self, ticket: Ticket, now: Instant) -> None:
        """Add a ticket, or replace the one its user had."""
        before = self._entries.get(ticket.user_id)
        if before is not None:
            if _differ_in_tier_at_most(before.ticket, ticket):
                if before.ticket.tier is not ticket.tier:
                    limits = self._tiers.limits(ticket.person, ticket.tier)
                    self._groups[_group_of(ticket.person)].widen(before, ticket, limits)
                return
            self.discard(ticket.user_id)
        limits = self._tiers.limits(ticket.person, ticket.tier)
        standing = self._policy.standing(ticket, now)
        number = self.numbers.of(ticket.user_id)
        entry = Entry(ticket, limits, standing, self._places, now, number)
        self._entries[ticket.user_id] = entry
        key = _group_of(ticket.person)
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group()
        group.add(entry)
        self._await_change(entry)

    def discard(self, user_id: str) -> None:
        """Remove a user's ticket, if there is one."""
        self._arriving.pop(user_id, None)
        entry = self._entries.pop(user_id, None)
        if entry is None:
            return
        key = _group_of(entry.ticket.person)
        group = self._groups[key]
        group.remove(entry)
        if not len(group):
            del self._groups[key]
        self._drop_stale_changes()

    def shift(self, by: int, now: Instant) -> None:
        """Move `waiting_since` of all tickets by so many microseconds."""
        tickets = list(self.tickets())
        for ticket in tickets:
            self.discard(ticket.user_id)
        self._changes.clear()
        for ticket in tickets:
            since = ticket.waiting_since + by
            moved = Ticket(ticket.person, since, ticket.credit, ticket.skips, ticket.tier)
            self.put(moved, now)

    def in_order(self, user_ids: Iterable[str], now: Instant) -> list[Ticket]:
        """The tickets of some users, in the order of the policy."""
        tickets = [found for user_id in user_ids if (found := self.get(user_id)) is not None]
        if len(tickets) > 1:
            tickets.sort(key=lambda ticket: (-self.base(ticket, now), ticket.user_id))
        return tickets

    def base(self, ticket: Ticket, now: Instant) -> int:
        """The standing of a ticket at an instant, without the term of a pair."""
        standing = self._policy.standing(ticket, now)
        return standing.key + self._policy.slopes[standing.phase] * (now - EPOCH)

    def best_partner(
        self,
        seeker: Ticket,
        limits: Limits,
        now: Instant,
        apart: Apart,
        beyond: Limits | None = None,
    ) -> Choice | None:
        """The best of all tickets inside `limits` of the seeker that accept the seeker.

        `apart` has the users whom something else keeps apart from the seeker. A ticket inside the
        limits `beyond` is known not to be acceptable.
        """
        self._catch_up(now)
        if beyond is not None:
            if seeker.waiting_since // _DAY != now // _DAY:
                beyond = None  # A birthday may have moved a user inside these limits.
            elif limits == beyond:
                return None
        search = Search(seeker, limits, self._policy, now, apart, beyond)
        if search.age < ADULT_AGE:
            return None
        for group in self.suiting(seeker.person):
            search.read(group)
        if search.best is None:
            return None
        passed_over = search.passed_over()
        return Choice(search.best.ticket, search.best_total, search.best_km, passed_over)

    def _catch_up(self, now: Instant) -> None:
        """Update the tickets whose standing has changed by now."""
        while self._changes and self._changes[0][0] <= now:
            at, user_id = heappop(self._changes)
            entry = self._entries.get(user_id)
            if entry is None or entry.standing.changes_at != at:
                continue
            group = self._groups[_group_of(entry.ticket.person)]
            group.stand(entry, self._policy.standing(entry.ticket, now))
            self._await_change(entry)

    def _await_change(self, entry: Entry) -> None:
        if entry.standing.changes_at is not None:
            heappush(self._changes, (entry.standing.changes_at, entry.user_id))
            self._drop_stale_changes()

    def _drop_stale_changes(self) -> None:
        """Rebuild the heap when most of it is stale, at an amortised constant cost."""
        if len(self._changes) <= 2 * len(self._entries) + MOST_STALE_CHANGES:
            return
        self._changes = [
            (entry.standing.changes_at, user_id)
            for user_id, entry in self._entries.items()
            if entry.standing.changes_at is not None
        ]
        heapify(self._changes)


def _group_of(person: Person) -> GroupKey:
    return (person.gender, person.seeking)


def _differ_in_tier_at_most(before: Ticket, ticket: Ticket) -> bool:
    """Whether tickets differ in nothing, or in the tier, which has no part in the standing."""
    return (
        before.person is ticket.person
        and before.waiting_since == ticket.waiting_since
        and before.credit == ticket.credit
        and before.skips == ticket.skips
    )
