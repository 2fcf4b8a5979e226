"""The job queue, in the same database and behind the same writer as everything else (ADR 0009).

Claims and completions are one statement for many jobs, because each call into SQLite releases the
interpreter lock and has to acquire it again. Rare writes (failures, rescues, cancellations) are one
statement for each job.

Every write that belongs to an attempt names the job's fence. It is refused with `LeaseLost` when
the lease has ended, or another owner has claimed the job since. A refused write changes nothing,
its effect included.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from yoked_actor.domain.jobs import (
    BulkAction,
    Job,
    JobAttempt,
    JobCause,
    JobFilter,
    JobStatus,
    KeptAnswer,
    NewJob,
    Pause,
    Progress,
    ReceiverAnswer,
    RetryPolicy,
    checked_reason,
)
from yoked_actor.domain.time import Instant, after
from yoked_actor.store.engine import Database, Turn, Tx, prune_oldest, statement
from yoked_actor.store.jobs.answers import answers_in, keep_answer_in
from yoked_actor.store.jobs.bulk import (
    change_in,
    find_in,
    pause_in,
    pauses_in,
    resume_in,
    types_to_claim,
)
from yoked_actor.store.jobs.claiming import claim_in, next_due_at
from yoked_actor.store.jobs.enqueuing import enqueue_in, enqueue_one_in
from yoked_actor.store.jobs.lease_clock import LeaseClock
from yoked_actor.store.jobs.operations import (
    cancel_in,
    dismiss_in,
    requeue_dead_in,
    requeue_in,
    rerun_in,
    retry_in,
)
from yoked_actor.store.jobs.outcomes import Reading, settle_in
from yoked_actor.store.jobs.pruning import prune_in
from yoked_actor.store.jobs.rows import find_job, job_of, json_text
from yoked_actor.store.jobs.values import (
    Claimed,
    Completed,
    DeadLettered,
    Effect,
    Enqueued,
    Extended,
    Failed,
    Outcome,
    Snoozed,
)

_EXTEND = statement("jobs/extend")
_LIST = statement("jobs/list")
_END_LEASES = statement("jobs/end_leases")
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


class Jobs:
    """The queue. What a write did is durable on return."""

    def __init__(self, database: Database, leases: LeaseClock) -> None:
        self._database = database
        self._leases = leases

    async def enqueue(self, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        """Add all or none. `KeyConflict` when a key was used for another payload."""
        if len(jobs) == 1 and jobs[0].key is None:
            return await self._database.write(
                lambda tx: enqueue_one_in(tx, jobs[0], now),
                atomic=True,
                can_wait=True,
                turn=Turn.SHARED,
            )
        return await self._database.write(lambda tx: enqueue_in(tx, jobs, now), can_wait=True)

    async def claim(
        self,
        owner: str,
        now: Instant,
        lease_s: float,
        limit: int,
        policies: Mapping[str, RetryPolicy] | None = None,
        expected: Sequence[int] = (),
    ) -> Claimed:
        """Lease up to `limit` due jobs, after rescuing those whose lease has ended.

        Only of the types in `policies`; of all types, with the default policy, when it is None.
        `Claimed.lost` names the `expected` jobs that another owner has claimed.
        """
        at = self._reading(now)
        return await self._database.write(
            lambda tx: claim_in(tx, owner, at, lease_s, limit, policies, expected),
            can_wait=True,
            turn=Turn.SHARED,
        )

    async def settle(self, outcomes: Sequence[Outcome], now: Instant) -> list[Exception | None]:
        """Record how attempts ended, each independent of the others.

        Returns for each the error that prevented it: `LeaseLost`, `CancelAsked` (it was to
        complete), or what its effect raised.
        """
        at = self._reading(now)
        # An effect may do anything, and enqueue jobs with keys.
        has_effect = any(isinstance(one, Completed) and one.effect for one in outcomes)
        return await self._database.write(
            lambda tx: settle_in(tx, outcomes, at),
            can_wait=True,
            turn=Turn.ALONE if has_effect else Turn.SHARED,
        )

    async def complete(
        self, job_id: int, fence: int, now: Instant, effect: Effect | None = None
    ) -> None:
        """Complete one attempt: its effect and its status, or neither."""
        await self._settle_one(Completed(job_id, fence, effect), now)

    async def fail(
        self, job_id: int, fence: int, now: Instant, retry_at: Instant | None, error: str
    ) -> None:
        """Fail one attempt; without `retry_at` the job becomes a dead letter."""
        if retry_at is None:
            await self._settle_one(DeadLettered(job_id, fence, error), now)
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
        """Extend leases, given as (job, fence), to `lease_s` from now.

        `progress` of some of these jobs is written under the same fence.
        """
        said = progress or {}
        given = json_text([(*one, *_progress_of(said.get(one[0]))) for one in leases])
        at = self._leases.at(now)
        until = after(at, lease_s)
        found = await self._database.write(
            lambda tx: dict(tx.execute(_EXTEND, (given, at, until)).fetchall()), turn=Turn.SHARED
        )
        return Extended(
            lost=[job_id for job_id, _ in leases if job_id not in found],
            cancel_asked=[job_id for job_id, asked in found.items() if asked],
        )

    async def cancel(self, job_id: int, now: Instant) -> Job:
        """Cancel a waiting job, or ask a running one to stop. `NoSuchJob`, `ImpossibleJobMove`.

        A running job that was asked to stop cannot complete any more.
        """
        return await self._database.write(lambda tx: cancel_in(tx, job_id, now))

    async def retry(self, job_id: int, now: Instant) -> Job:
        """Make a failed job due now. `NoSuchJob`, `ImpossibleJobMove`."""
        return await self._database.write(lambda tx: retry_in(tx, job_id, now))

    async def requeue(self, job_id: int, now: Instant) -> Job:
        """Let a dead letter or a cancelled job run from the start.

        A dismissal ends. `NoSuchJob`, `ImpossibleJobMove`.
        """
        return await self._database.write(lambda tx: requeue_in(tx, job_id, now))

    async def requeue_dead(self, job_type: str, now: Instant, limit: int) -> list[int]:
        """Let up to `limit` dead letters of a type run from the start; returns their ids.

        Dismissed ones are left out.
        """
        return await self._database.write(lambda tx: requeue_dead_in(tx, job_type, now, limit))

    async def rerun(
        self, job_type: str, payload: Mapping[str, str], now: Instant, limit: int, after: int = 0
    ) -> list[int]:
        """Let dead letters of a type run from the start, and make failed jobs due now.

        Only those whose payload has all these values and whose id is greater than `after`. Returns
        the ids in ascending order, at most `limit`.
        """
        return await self._database.write(
            lambda tx: rerun_in(tx, job_type, payload, now, limit, after), can_wait=True
        )

    async def dismiss(self, job_id: int, by: str, reason: str, now: Instant) -> Job:
        """Leave a dead letter out of lists, counts and alerts, and record that in the audit.

        `NoSuchJob`, `NotDismissable`, or `ValueError` when the reason is empty.
        """
        why = checked_reason(reason)
        return await self._database.write(lambda tx: dismiss_in(tx, job_id, by, why, now))

    async def change(
        self,
        action: BulkAction,
        wanted: JobFilter,
        by: str,
        reason: str,
        now: Instant,
        limit: int,
    ) -> tuple[list[int], bool]:
        """Apply an action to up to `limit` jobs of a filter, and record that in the audit.

        Returns the ids, and whether there are more. Jobs in whose state the action is not possible
        are left out. A running job that is cancelled stops when its lease is next extended.
        """
        why = checked_reason(reason) if action is BulkAction.DISMISS else reason
        found = await self._database.read(lambda tx: find_in(tx, action, wanted, limit + 1))
        ids = found[:limit]
        changed = await self._database.write(
            lambda tx: change_in(tx, action, ids, wanted, by, why, now), can_wait=True
        )
        return changed, len(found) > limit

    async def pause(self, pause: Pause) -> bool:
        """Let no process claim jobs of a type; False when it is paused already."""
        return await self._database.write(lambda tx: pause_in(tx, pause))

    async def resume(self, job_type: str, by: str, now: Instant) -> bool:
        """Let jobs of a type be claimed again; False when it is not paused."""
        return await self._database.write(lambda tx: resume_in(tx, job_type, by, now))

    async def pauses(self) -> Sequence[Pause]:
        """The types that are paused."""
        return await self._database.read(pauses_in)

    async def prune(self, ended_before: Instant, limit: int, *, dead: bool = False) -> int:
        """Delete up to `limit` jobs that ended before an instant; returns how many.

        Completed and cancelled jobs, or with `dead` dead letters.
        """
        return await self._database.write(lambda tx: prune_in(tx, ended_before, limit, dead=dead))

    async def prune_keys(self, ended_before: Instant, limit: int) -> int:
        """Delete keys whose job was pruned and had ended before an instant; returns how many."""
        return await self._database.write(
            lambda tx: prune_oldest(tx, "job_ledger", "type, key", "ended_at", ended_before, limit)
        )

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

    async def keep_answer(
        self, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant
    ) -> None:
        """Store what a receiver answered to a run; `LeaseLost` when it is not the last run."""
        await self._database.write(lambda tx: keep_answer_in(tx, job_id, fence, answer, now))

    async def answers(self, job_id: int) -> list[KeptAnswer]:
        """What was answered to the runs of a job, oldest first."""
        return await self._database.read(lambda tx: answers_in(tx, job_id))

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

    async def next_due_at(self, types: Collection[str] | None = None) -> Instant | None:
        """When the next job is due or the next lease ends.

        With `types`, only of those of them that are not paused.
        """
        ahead = self._leases.ahead_at_present()

        def read(tx: Tx) -> Instant | None:
            wanted = None if types is None else types_to_claim(tx, sorted(types))
            return next_due_at(tx, wanted, ahead)

        return await self._database.read(read)

    async def end_leases(self, owner: str, now: Instant) -> int:
        """End the leases of a process that is gone; the next claim rescues its jobs."""
        lease = self._leases.at(now)
        return await self._database.write(
            lambda tx: tx.execute(_END_LEASES, (owner, lease)).rowcount,
            atomic=True,
            turn=Turn.SHARED,
        )

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

    async def _settle_one(self, outcome: Outcome, now: Instant) -> None:
        [error] = await self.settle([outcome], now)
        if error is not None:
            raise error

    def _reading(self, now: Instant) -> Reading:
        return Reading(now, self._leases.at(now))

    def _shown(self, job: Job) -> Job:
        """A job with the end of its lease as the time of day."""
        if job.lease_until is None:
            return job
        until = job.lease_until + self._leases.ahead_at_present()
        return msgspec.structs.replace(job, lease_until=until)


def _progress_of(said: Progress | None) -> tuple[int | None, int | None, str | None]:
    return (None, None, None) if said is None else (said.done, said.total, said.note)
