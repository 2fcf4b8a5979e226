"""Changes of jobs by operators, and the deletion of old jobs and keys."""

from __future__ import annotations

from collections.abc import Mapping

from yoked_actor.domain.jobs import BulkAction, Job, JobFilter, Pause, checked_reason
from yoked_actor.domain.time import Instant
from yoked_actor.store.engine import Database, prune_oldest
from yoked_actor.store.jobs.bulk import change_in, find_in, pause_in, resume_in
from yoked_actor.store.jobs.operations import (
    cancel_in,
    dismiss_in,
    requeue_dead_in,
    requeue_in,
    rerun_in,
    retry_in,
)
from yoked_actor.store.jobs.pruning import prune_in


class JobCare:
    """Changes jobs outside their runs. What a write did is durable on return."""

    _database: Database

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
