"""A waiting user's ticket, its standing, and the partner that a search chooses.

A search reads them for each candidate. They are neither stored nor sent, so they are classes:
compiled code reads an attribute of a class in a fraction of the time of one of a Struct.
"""

from __future__ import annotations

from yoked_actor.domain.matching.tickets import Tier
from yoked_actor.domain.people import Person
from yoked_actor.domain.time import Instant


class Ticket:
    """A waiting user who can be paired. It is never changed."""

    __slots__ = ("credit", "person", "skips", "tier", "user_id", "waiting_since")

    def __init__(
        self,
        person: Person,
        waiting_since: Instant,
        credit: int = 0,
        skips: int = 0,
        tier: Tier = Tier.EXACT,
    ) -> None:
        self.person = person
        self.user_id = person.user_id
        self.waiting_since = waiting_since
        self.credit = credit
        self.skips = skips
        self.tier = tier

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Ticket)
            and self.tier is other.tier
            and self.waiting_since == other.waiting_since
            and self.credit == other.credit
            and self.skips == other.skips
            and self.person == other.person
        )

    def __hash__(self) -> int:
        return hash((self.user_id, self.waiting_since))

    def __repr__(self) -> str:
        return (
            f"Ticket({self.user_id!r}, {self.waiting_since}, credit={self.credit},"
            f" skips={self.skips}, tier={self.tier!r})"
        )


class Standing:
    """The standing of a ticket until `changes_at`. It is never changed."""

    __slots__ = ("changes_at", "key", "phase")

    def __init__(self, key: int, phase: int, changes_at: Instant | None) -> None:
        self.key = key
        self.phase = phase
        self.changes_at = changes_at


class Choice:
    """The best partner, their total and distance, and the users who were passed over."""

    __slots__ = ("km", "passed_over", "ticket", "total")

    def __init__(self, ticket: Ticket, total: int, km: float, passed_over: list[str]) -> None:
        self.ticket = ticket
        self.total = total
        self.km = km
        self.passed_over = passed_over
