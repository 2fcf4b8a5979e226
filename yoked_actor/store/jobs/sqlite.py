"""The job queue in the same SQLite file, behind the same writer, as everything else (ADR 0009).

Claims and completions go through one statement for many jobs, because each call into SQLite gives
up the interpreter lock and has to win it back. What is rare (failures, rescues, cancellations) is
written job by job.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from yoked_actor.domain.jobs import (
    Job,
    JobAttempt,
    JobCause,
    JobStatus,
    NewJob,
    NotDismissable,
    Progress,
    RetryPolicy,
    checked_reason,
    next_status,
)
from yoked_actor.domain.time import Instant, after
from yoked_actor.store.engine import Writer, record_in, statement
from yoked_actor.store.jobs.erased import DISMISSED
from yoked_actor.store.jobs.lease_clock import LeaseClock
from yoked_actor.store.jobs.outcomes import Reading, settle_in
from yoked_actor.store.jobs.port import (
    Buried,
    Claimed,
    Completed,
    Effect,
    Enqueued,
    Extended,
    Failed,
    Jobs,
    KeptAnswer,
    LeaseLost,
    Outcome,
    ReceiverAnswer,
    Snoozed,
)
from yoked_actor.store.jobs.rows import (
    claim,
    enqueue_in,
    existing_job,
    find_job,
    job_of,
    json_text,
    rescue,
)

T = TypeVar("T")
_EXTEND = statement("jobs/extend")
_LOST = statement("jobs/lost")
_NEXT_DUE = statement("jobs/next_due")
_LIST = statement("jobs/list")
_OPEN_COUNTS = statement("jobs/open_counts")
_REQUEUE = statement("jobs/requeue")
_RERUN_FIND = statement("jobs/rerun_find")
_DISMISS = statement("jobs/dismiss")
_ADD_ANSWER = statement("jobs/add_answer")
_PRUNE_FIND = statement("jobs/prune_find")
_PRUNE_FIND_DEAD = statement("jobs/prune_find_dead")
_PRUNE_OUTCOMES = statement("jobs/prune_outcomes")
_PRUNE_KEYS = statement("jobs/prune_keys")
_DEPTH = "SELECT count(*) FROM jobs WHERE status IN ('pending', 'failed') AND scheduled_for <= ?"

_OVERDUE = (
    "SELECT count(*) FROM jobs"
    " WHERE status IN ('pending', 'failed') AND scheduled_for <= ?1 AND created_at <= ?1"
)

_decode_ids = msgspec.json.Decoder(list[int]).decode


class Read(Protocol):
    """Runs a query on the reading connection."""

    def __call__(self, query: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...


class SqliteJobs:
    """A `JobStore` in an SQLite database. A part of `SqliteStore`."""

    def __init__(self, writer: Writer, read: Read, leases: LeaseClock) -> None:
        self._writer = writer
        self._read = read
        self._leases = leases

    async def enqueue(self, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        """Add all or none; durable on return."""
        return await self._writer.write(lambda db: enqueue_in(db, jobs, now), can_wait=True)

    async def claim(
        self,
        owner: str,
        now: Instant,
        lease_s: float,
        limit: int,
        policies: Mapping[str, RetryPolicy] | None = None,
        expected: Sequence[int] = (),
    ) -> Claimed:
        """Rescue what was left, then lease what is due."""
        types = None if policies is None else json_text(list(policies))
        at = self._reading(now)
        until = after(at.lease, lease_s)

        def apply(db: sqlite3.Connection) -> Claimed:
            rescued = rescue(db, at, limit, types, policies or {})
            jobs = claim(db, owner, now, until, limit, types)
            due_at = now
            if len(jobs) < limit and len(rescued) < limit:
                (due_at,) = db.execute(_NEXT_DUE, (types, at.now - at.lease)).fetchone()
            lost: tuple[int, ...] = ()
            if expected:
                rows = db.execute(_LOST, (json_text(expected), owner)).fetchall()
                lost = tuple(job_id for (job_id,) in rows)
            return Claimed(jobs, rescued, due_at, lost)

        return await self._writer.write(apply, can_wait=True)

    async def settle(self, outcomes: Sequence[Outcome], now: Instant) -> list[Exception | None]:
        """Record how attempts ended, each by itself."""
        at = self._reading(now)
        return await self._writer.write(lambda db: settle_in(db, outcomes, at), can_wait=True)

    async def complete(
        self, job_id: int, fence: int, now: Instant, effect: Effect | None = None
    ) -> None:
        """Complete one attempt: its effect and its status, or neither."""
        await self._settle_one(Completed(job_id, fence, effect), now)

    async def fail(
        self, job_id: int, fence: int, now: Instant, retry_at: Instant | None, error: str
    ) -> None:
        """Fail one attempt; without `retry_at` the job is a dead letter."""
        if retry_at is None:
            await self._settle_one(Buried(job_id, fence, error), now)
        else:
            await self._settle_one(Failed(job_id, fence, retry_at, error), now)

    async def snooze(
        self, job_id: int, fence: int, now: Instant, until: Instant | None = None
    ) -> None:
        """Give one attempt back."""
        await self._settle_one(Snoozed(job_id, fence, until), now)

    async def extend(
        self,
        leases: Sequence[tuple[int, int]],
        now: Instant,
        lease_s: float,
        progress: Mapping[int, Progress] | None = None,
    ) -> Extended:
        """Let leases go on, and write what their runs say of their progress."""
        said = progress or {}
        given = json_text([(*one, *_progress_of(said.get(one[0]))) for one in leases])
        at = self._leases.at(now)
        until = after(at, lease_s)
        found = await self._writer.write(
            lambda db: dict(db.execute(_EXTEND, (given, at, until)).fetchall())
        )
        return Extended(
            lost=[job_id for job_id, _ in leases if job_id not in found],
            cancel_asked=[job_id for job_id, asked in found.items() if asked],
        )

    async def cancel(self, job_id: int, now: Instant) -> Job:
        """Cancel a waiting job, ask for the end of a running one."""

        def apply(db: sqlite3.Connection) -> Job:
            job = existing_job(db, job_id)
            next_status(job_id, job.status, JobCause.CANCELLED)
            if job.status is JobStatus.IN_PROGRESS:
                db.execute("UPDATE jobs SET cancel_asked = 1 WHERE id = ?", (job_id,))
            else:
                db.execute(
                    "UPDATE jobs SET status = 'cancelled', completed_at = ? WHERE id = ?",
                    (now, job_id),
                )
            return existing_job(db, job_id)

        return await self._writer.write(apply)

    async def hurry(self, job_id: int, now: Instant) -> Job:
        """Let a failed job run again now rather than later."""

        def apply(db: sqlite3.Connection) -> Job:
            next_status(job_id, existing_job(db, job_id).status, JobCause.HURRIED)
            db.execute(
                "UPDATE jobs SET scheduled_for = min(scheduled_for, ?) WHERE id = ?", (now, job_id)
            )
            return existing_job(db, job_id)

        return await self._writer.write(apply)

    async def requeue(self, job_id: int, now: Instant) -> Job:
        """Let a dead or cancelled job run from the start."""

        def apply(db: sqlite3.Connection) -> Job:
            next_status(job_id, existing_job(db, job_id).status, JobCause.REQUEUED)
            db.execute(_REQUEUE, (job_id, now))
            return existing_job(db, job_id)

        return await self._writer.write(apply)

    async def dismiss(self, job_id: int, by: str, reason: str, now: Instant) -> Job:
        """Leave a dead letter out of lists, counts and alerts."""
        why = checked_reason(reason)

        def apply(db: sqlite3.Connection) -> Job:
            job = existing_job(db, job_id)
            if not db.execute(_DISMISS, (job_id, now, by, why)).rowcount:
                raise NotDismissable(job)
            record_in(db, by, DISMISSED, str(job_id), why, now)
            return existing_job(db, job_id)

        return await self._writer.write(apply)

    async def requeue_dead(self, job_type: str, now: Instant, limit: int) -> list[int]:
        """Let the dead letters of a type run from the start."""

        def apply(db: sqlite3.Connection) -> list[int]:
            found = db.execute(
                "SELECT id FROM jobs WHERE status = 'dead_letter' AND dismissed_at IS NULL"
                " AND type = ? ORDER BY id LIMIT ?",
                (job_type, limit),
            ).fetchall()
            db.executemany(_REQUEUE, [(job_id, now) for (job_id,) in found])
            return [job_id for (job_id,) in found]

        return await self._writer.write(apply)

    async def rerun(
        self, job_type: str, payload: Mapping[str, str], now: Instant, limit: int, after: int = 0
    ) -> list[int]:
        """Let dead letters with such a payload run from the start, and failed jobs now."""
        asked: dict[str, str | int] = {"type": job_type, "now": now, "limit": limit, "after": after}
        asked["values"] = msgspec.json.encode(payload).decode()

        def apply(db: sqlite3.Connection) -> list[int]:
            found = db.execute(_RERUN_FIND, asked).fetchall()
            for job_id, status in found:
                if status == JobStatus.DEAD_LETTER:
                    db.execute(_REQUEUE, (job_id, now))
                else:
                    db.execute("UPDATE jobs SET scheduled_for = ? WHERE id = ?", (now, job_id))
            return [job_id for job_id, _ in found]

        return await self._writer.write(apply, can_wait=True)

    async def prune(self, ended_before: Instant, limit: int, *, dead: bool = False) -> int:
        """Delete jobs that ended before an instant; their keys keep the outcome."""
        find = _PRUNE_FIND_DEAD if dead else _PRUNE_FIND

        def apply(db: sqlite3.Connection) -> int:
            (gone,) = db.execute(find, (ended_before, limit)).fetchone()
            db.execute(_PRUNE_OUTCOMES, (gone,))
            db.execute(
                "DELETE FROM job_attempts WHERE job_id IN (SELECT value FROM json_each(?))", (gone,)
            )
            db.execute(
                "DELETE FROM job_answers WHERE job_id IN (SELECT value FROM json_each(?))", (gone,)
            )
            db.execute("DELETE FROM jobs WHERE id IN (SELECT value FROM json_each(?))", (gone,))
            return len(_decode_ids(gone))

        return await self._writer.write(apply)

    async def prune_keys(self, ended_before: Instant, limit: int) -> int:
        """Forget keys whose job was pruned and had ended before an instant."""
        return await self._writer.write(
            lambda db: db.execute(_PRUNE_KEYS, (ended_before, limit)).rowcount
        )

    async def get(self, job_id: int) -> Job | None:
        """One job."""
        found = await self._read(lambda db: find_job(db, job_id))
        return None if found is None else self._shown(found)

    async def attempts(self, job_id: int) -> list[JobAttempt]:
        """A job's attempts that did not go well, oldest first."""
        rows = await self._read(
            lambda db: db.execute(
                "SELECT fence, attempt, owner, started_at, ended_at, cause, error"
                " FROM job_attempts WHERE job_id = ? ORDER BY fence",
                (job_id,),
            ).fetchall()
        )
        return [
            JobAttempt(fence, attempt, owner, started_at, ended_at, JobCause(cause), error)
            for fence, attempt, owner, started_at, ended_at, cause, error in rows
        ]

    async def keep_answer(
        self, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant
    ) -> None:
        """Keep what somebody outside has answered to a run."""
        await self._writer.write(lambda db: keep_answer_in(db, job_id, fence, answer, now))

    async def answers(self, job_id: int) -> list[KeptAnswer]:
        """What was answered to the runs of a job, oldest first."""
        rows = await self._read(
            lambda db: db.execute(
                "SELECT status, receiver_id, body, fence, at FROM job_answers"
                " WHERE job_id = ? ORDER BY fence",
                (job_id,),
            ).fetchall()
        )
        return [KeptAnswer(*row) for row in rows]

    async def counts(self) -> dict[tuple[str, JobStatus], int]:
        """How many jobs there are, by type and status; dismissed ones are left out."""
        rows = await self._read(
            lambda db: db.execute(
                "SELECT type, status, count(*) FROM jobs WHERE dismissed_at IS NULL"
                " GROUP BY type, status"
            ).fetchall()
        )
        return {(job_type, JobStatus(status)): count for job_type, status, count in rows}

    async def open_counts(self) -> dict[tuple[str, JobStatus], int]:
        """The same, without what has completed or was cancelled; quick however much that is."""
        rows = await self._read(lambda db: db.execute(_OPEN_COUNTS).fetchall())
        return {(job_type, JobStatus(status)): count for job_type, status, count in rows}

    async def depth(self, now: Instant) -> int:
        """How many jobs are due and wait to be claimed."""
        (count,) = await self._read(lambda db: db.execute(_DEPTH, (now,)).fetchone())
        return int(count)

    async def overdue(self, since: Instant) -> int:
        """How many of them have been due, and there, since an instant or longer."""
        (count,) = await self._read(lambda db: db.execute(_OVERDUE, (since,)).fetchone())
        return int(count)

    async def next_due_at(self) -> Instant | None:
        """When the next job is due or the next lease ends."""
        ahead = self._leases.ahead_at_present()
        (at,) = await self._read(lambda db: db.execute(_NEXT_DUE, (None, ahead)).fetchone())
        return None if at is None else int(at)

    async def list(
        self,
        *,
        status: JobStatus | None = None,
        job_type: str | None = None,
        limit: int = 100,
        before: int | None = None,
        dismissed: bool | None = False,
    ) -> Jobs:
        """Jobs, the newest first, with an id less than `before`."""
        wanted = (None if status is None else status.value, job_type, before, limit, dismissed)
        rows = await self._read(lambda db: db.execute(_LIST, wanted).fetchall())
        return [self._shown(job_of(row)) for row in rows]

    def _reading(self, now: Instant) -> Reading:
        return Reading(now, self._leases.at(now))

    def _shown(self, job: Job) -> Job:
        """A job with the end of its lease as the time of day."""
        if job.lease_until is None:
            return job
        until = job.lease_until + self._leases.ahead_at_present()
        return msgspec.structs.replace(job, lease_until=until)

    async def _settle_one(self, outcome: Outcome, now: Instant) -> None:
        [error] = await self.settle([outcome], now)
        if error is not None:
            raise error


def keep_answer_in(
    db: sqlite3.Connection, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant
) -> None:
    """Keep what was answered to a run, in a transaction that is under way; or `LeaseLost`."""
    row = (job_id, fence, now, answer.status, answer.receiver_id, answer.body)
    if not db.execute(_ADD_ANSWER, row).rowcount:
        raise LeaseLost(job_id, fence)


def _progress_of(said: Progress | None) -> tuple[int | None, int | None, str | None]:
    return (None, None, None) if said is None else (said.done, said.total, said.note)
