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

from yoked_actor.domain.jobs import NewJob, Progress, ReceiverAnswer, RetryPolicy
from yoked_actor.domain.time import Instant, after
from yoked_actor.store.engine import Turn, Tx, statement
from yoked_actor.store.jobs.answers import keep_answer_in
from yoked_actor.store.jobs.bulk import paused_types
from yoked_actor.store.jobs.care import JobCare
from yoked_actor.store.jobs.claiming import claim_in, next_due_at
from yoked_actor.store.jobs.enqueuing import PreparedJobs, enqueue_one_in, enqueue_prepared_in
from yoked_actor.store.jobs.outcomes import NotTogether, Reading, settle_each, settle_together
from yoked_actor.store.jobs.rows import json_text
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
from yoked_actor.store.jobs.views import JobViews

_EXTEND = statement("jobs/extend")
_END_LEASES = statement("jobs/end_leases")


class Jobs(JobViews, JobCare):
    """The queue: adds jobs, leases them, and records their runs; and its views and care.

    What a write did is durable on return.
    """

    async def enqueue(self, jobs: Sequence[NewJob], now: Instant) -> list[Enqueued]:
        """Add all or none. `KeyConflict` when a key was used for another payload."""
        if len(jobs) == 1 and jobs[0].key is None:
            return await self._database.write(
                lambda tx: enqueue_one_in(tx, jobs[0], now),
                atomic=True,
                can_wait=True,
                turn=Turn.SHARED,
            )
        prepared = PreparedJobs(jobs)
        return await self._database.write(
            lambda tx: enqueue_prepared_in(tx, prepared, now), can_wait=True
        )

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
        turn = Turn.ALONE if has_effect else Turn.SHARED
        if len(outcomes) > 1:
            try:
                return await self._database.write(
                    lambda tx: settle_together(tx, outcomes, at),
                    can_wait=True,
                    large=has_effect,
                    turn=turn,
                )
            except NotTogether:
                at = self._reading(now)  # nothing of it was written, and leases go on
        return await self._database.write(
            lambda tx: settle_each(tx, outcomes, at), can_wait=True, large=has_effect, turn=turn
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

    async def keep_answer(
        self, job_id: int, fence: int, answer: ReceiverAnswer, now: Instant
    ) -> None:
        """Store what a receiver answered to a run; `LeaseLost` when it is not the last run."""
        await self._database.write(lambda tx: keep_answer_in(tx, job_id, fence, answer, now))

    async def next_due_at(self, types: Collection[str] | None = None) -> Instant | None:
        """When the next job is due or the next lease ends.

        With `types`, only of those of them that are not paused.
        """
        ahead = self._leases.ahead_at_present()

        def read(tx: Tx) -> Instant | None:
            wanted = None if types is None else set(types).difference(paused_types(tx))
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

    async def _settle_one(self, outcome: Outcome, now: Instant) -> None:
        [error] = await self.settle([outcome], now)
        if error is not None:
            raise error

    def _reading(self, now: Instant) -> Reading:
        return Reading(now, self._leases.at(now))


def _progress_of(said: Progress | None) -> tuple[int | None, int | None, str | None]:
    return (None, None, None) if said is None else (said.done, said.total, said.note)
