"""What the rest of the house asks of a store. SQLite is one answer; there may be others.

A store passes `tests/store/test_conformance.py`.
"""

from __future__ import annotations

from typing import Protocol

from yoked_actor.domain.lobby import Changes, Known, Recovered
from yoked_actor.domain.matching import QualityReport
from yoked_actor.domain.people import Person, Report, ReportLimits
from yoked_actor.domain.time import Instant
from yoked_actor.store.jobs import JobStore
from yoked_actor.store.offers import Offers
from yoked_actor.store.ops import SqliteAudit
from yoked_actor.store.people import SqlitePrivacy


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
