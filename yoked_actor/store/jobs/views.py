"""What can be read about jobs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from yoked_actor.domain.jobs import Job, JobAttempt, JobCause, JobStatus, KeptAnswer, Pause
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, statement
from yoked_actor.store.jobs.answers import answers_in
from yoked_actor.store.jobs.bulk import pauses_in
from yoked_actor.store.jobs.lease_clock import LeaseClock
from yoked_actor.store.jobs.rows import find_job, job_of

_LIST = statement("jobs/list")
_OPEN_COUNTS = statement("jobs/open_counts")
_DEPTH = "SELECT count(*) FROM jobs WHERE status IN ('pending', 'failed') AND scheduled_for <= ?"
_OVERDUE = (
    "SELECT count(*) FROM jobs"
    " WHERE status IN ('pending', 'failed') AND scheduled_for <= ?1 AND created_at <= ?1"
)
_COUNTS = "SELECT type, status, count(*) FROM jobs WHERE dismissed_at IS NULL GROUP BY type, status"
_ATTEMPTS = (
    "SELECT fence, attempt, owner, started_at, ended_at, cause, error"
    " FROM job_attempts WHERE job_id = ? ORDER BY fence"
)

Listed = list[Job]
Counts = dict[tuple[str, JobStatus], int]


class JobViews:
    """Reads the queue."""

    def __init__(self, database: Database, leases: LeaseClock) -> None:
        self._database = database
        self._leases = leases

    async def get(self, job_id: int) -> Job | None:
        """One job."""
        found = await self._database.read(lambda tx: find_job(tx, job_id))
        return None if found is None else self._shown(found)

    async def attempts(self, job_id: int) -> list[JobAttempt]:
        """A job's attempts that did not succeed, oldest first."""
        rows = await self._database.read(lambda tx: tx.execute(_ATTEMPTS, (job_id,)).fetchall())
        return [
            JobAttempt(fence, attempt, owner, started_at, ended_at, JobCause(cause), error)
            for fence, attempt, owner, started_at, ended_at, cause, error in rows
        ]

    async def answers(self, job_id: int) -> list[KeptAnswer]:
        """The answers that the runs of a job received, oldest first."""
        return await self._database.read(lambda tx: answers_in(tx, job_id))

    async def pauses(self) -> Sequence[Pause]:
        """The types that are paused."""
        return await self._database.read(pauses_in)

    async def counts(self) -> Counts:
        """How many jobs there are, by type and status; dismissed ones are left out."""
        return await self._count(_COUNTS)

    async def open_counts(self) -> Counts:
        """`counts` without completed and cancelled jobs; fast however many those are."""
        return await self._count(_OPEN_COUNTS)

    async def depth(self, now: Instant) -> int:
        """How many jobs are due and wait to be claimed."""
        (count,) = await self._database.read(lambda tx: tx.execute(_DEPTH, (now,)).fetchone())
        return int(count)

    async def overdue(self, since: Instant) -> int:
        """How many jobs have waited, and been due, since an instant or longer."""
        (count,) = await self._database.read(lambda tx: tx.execute(_OVERDUE, (since,)).fetchone())
        return int(count)

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        job_type: str | None = None,
        limit: int = 100,
        before: int | None = None,
        dismissed: bool | None = False,
        text: str | None = None,
    ) -> Listed:
        """Jobs with an id less than `before`, newest first.

        Without dismissed dead letters; with `dismissed` True only those, with None all. With
        `text`, only jobs whose payload or key contains it.
        """
        state = None if status is None else status.value
        wanted = (state, job_type, before, limit, dismissed, text)
        rows = await self._database.read(lambda tx: tx.execute(_LIST, wanted).fetchall())
        return [self._shown(job_of(row)) for row in rows]

    async def _count(self, query: str) -> Counts:
        rows = await self._database.read(lambda tx: tx.execute(query).fetchall())
        return {(job_type, JobStatus(status)): count for job_type, status, count in rows}

    def _shown(self, job: Job) -> Job:
        """A job with the end of its lease as the time of day."""
        if job.lease_until is None:
            return job
        until = job.lease_until + self._leases.ahead_at_present()
        return msgspec.structs.replace(job, lease_until=until)
