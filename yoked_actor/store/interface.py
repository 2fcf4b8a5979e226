"""What the rest of the house asks of a store. SQLite is one answer; there may be others.

A store passes `tests/store/test_conformance.py`.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from yoked_actor.domain.instants import Instant
from yoked_actor.domain.people import Person
from yoked_actor.domain.records import Changes, Known, Match, VideoDate
from yoked_actor.domain.tiers import Tier
from yoked_actor.store.errors import StoreError
from yoked_actor.store.jobs import JobStore
from yoked_actor.store.offers import Offers
from yoked_actor.store.sqlite_audit import SqliteAudit
from yoked_actor.store.sqlite_privacy import SqlitePrivacy


class Report(msgspec.Struct, frozen=True):
    """One user's complaint about another, for the operator's review."""

    reporter: str
    reported: str
    reason: str
    match_id: str | None
    at: Instant


class ReportLimits(msgspec.Struct, frozen=True):
    """How much one user may report."""

    per_day: int
    """Reports within 24 hours."""
    per_pair: int
    """Reports about the same user that nobody has resolved."""


class TooManyReports(StoreError):
    """A report more than one user may make; nothing was stored. The text is for the user."""


class Recovered(msgspec.Struct, frozen=True):
    """What a new process takes over from the one before."""

    users: list[Known]
    """Everyone who is not idle or is on an open date."""
    matches: list[Match]
    """The open ones."""
    dates: list[VideoDate]
    """The open ones."""
    next_number: int
    """Greater than the number in the id of every match and date."""
    boot: int
    """How many times this data directory was started, this time included."""


class Percentiles(msgspec.Struct, frozen=True):
    """What half, nine of ten, and ninety-nine of a hundred stay at or below."""

    p50: float
    p90: float
    p99: float


class GroupQuality(msgspec.Struct, frozen=True):
    """How those of one gender who seek the same genders have fared.

    `count` is how often one of them was matched, `wait_s` how long they had waited then, `tiers`
    how often their limits had to be how wide for it. `match_rate` is the share of those matches
    that ended with two yeses, of those that are over; null before any is.
    """

    group: str
    count: int
    wait_s: Percentiles
    tiers: dict[Tier, int]
    match_rate: float | None


class QualityReport(msgspec.Struct, frozen=True):
    """How good the matches of some time were, by group."""

    matches: int
    complete: bool
    """False when there were more, and only the newest were looked at."""
    groups: list[GroupQuality]


class Store(Protocol):
    """What outlives the process."""

    @property
    def jobs(self) -> JobStore:
        """The queue."""
        ...

    @property
    def pending_writes(self) -> int:
        """How many writes wait for their commit to begin."""
        ...

    @property
    def offers(self) -> Offers:
        """Daily offers, answers, connections."""
        ...

    @property
    def privacy(self) -> SqlitePrivacy:
        """What people may ask about themselves."""
        ...

    @property
    def operators(self) -> SqliteAudit:
        """What operators do and did."""
        ...

    async def audit(self, who: str, action: str, subject: str, detail: str, now: Instant) -> None:
        """Record what an operator did; durable on return."""

    async def commit(self, changes: Changes) -> None:
        """Save all or nothing; durable on return. `StoreUnavailable`: nothing was written.

        Once it is under way a commit is not cancelled: the caller always learns how it ended.
        """

    async def load_user(self, user_id: str) -> Known:
        """All that is remembered of one user; bars as they were stored, past ones too."""
        ...

    async def recover(self) -> Recovered:
        """What the process before left open."""
        ...

    async def add_report(self, report: Report, limits: ReportLimits) -> None:
        """Keep a report; durable on return. `TooManyReports`: nothing was stored."""

    async def load_person(self, user_id: str) -> Person | None:
        """One user's profile."""
        ...

    async def quality(self, since: Instant, most: int) -> QualityReport:
        """How good the newest matches were, `most` at most, of those made since an instant."""
        ...

    async def ping(self) -> None:
        """Read something small, or raise `StoreUnavailable`."""

    async def aclose(self) -> None:
        """Finish what was asked for, then let go of the database."""
