"""The jobs that this process has claimed, and their leases.

The leases of all running jobs are extended together, three times in the length of a lease. The
progress of a run is written with its lease, and in between when it has changed. A run whose lease
is lost, that is cancelled or takes too long is stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from typing import Any

import msgspec
import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.job_types import JobRun
from yoked_actor.domain.jobs import Job, Progress
from yoked_actor.settings import JobSettings
from yoked_actor.store import Jobs, StoreUnavailable

_log = structlog.get_logger()


class StopReason(Enum):
    """Why a held job is stopped."""

    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    STOPPING = "stopping"
    TOO_SLOW = "too_slow"


class HeldJob(msgspec.Struct, eq=False):
    """A job that this process has claimed."""

    job: Job
    run: JobRun[Any] | None = None
    written: Progress | None = None
    scope: trio.CancelScope | None = None
    began: float = math.inf
    is_ended: bool = False
    stopped: StopReason | None = None

    @property
    def unwritten(self) -> Progress | None:
        """The progress that the run has reported and that is not written yet."""
        reported = None if self.run is None else self.run.progress
        return None if reported == self.written else reported

    def end(self) -> None:
        """The run has ended: its scope may run another job from now on."""
        self.is_ended = True
        self.scope = None

    def stop(self, reason: StopReason) -> None:
        """Stop the run; the first reason counts."""
        if self.stopped is None:
            self.stopped = reason
            if self.scope is not None:
                self.scope.cancel()


class HeldJobs:
    """The held jobs: from the claim until the outcome is recorded."""

    def __init__(
        self, jobs: Jobs, clock: Clock, limits: JobSettings, lost: Callable[[Job], None]
    ) -> None:
        """`lost` is called with each job whose lease has ended or is another process's."""
        self._jobs = jobs
        self._clock = clock
        self._limits = limits
        self._lost = lost
        self._held: dict[int, HeldJob] = {}
        self._wakeup = trio.Event()
        self._added = trio.lowlevel.ParkingLot()
        self._released = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[HeldJob]:
        return iter(self._held.values())

    def get(self, job_id: int) -> HeldJob | None:
        """A held job, or None."""
        return self._held.get(job_id)

    def add(self, jobs: Sequence[Job]) -> list[HeldJob]:
        """Hold jobs that were claimed."""
        added = [HeldJob(job) for job in jobs]
        for held in added:
            self._held[held.job.id] = held
        self._added.unpark_all()
        return added

    def release(self, jobs: list[Job]) -> None:
        """Hold these jobs no longer."""
        for job in jobs:
            self._held.pop(job.id, None)
        self._released.unpark_all()

    def clear(self) -> None:
        """Hold no jobs: the tasks that ran them are gone. The leases end by themselves."""
        self._held.clear()
        self._released.unpark_all()

    async def until_empty(self) -> None:
        """Wait until nothing is held."""
        while self._held:
            await self._released.park()

    def wake(self) -> None:
        """Extend the leases now: a job may be cancelled."""
        self._wakeup.set()

    async def keep_leases(self) -> None:
        """Extend leases until cancelled."""
        while True:
            while not self._held:
                await self._added.park()
            extend_at = trio.current_time() + self._limits.lease_s / 3
            while (left_s := extend_at - trio.current_time()) > 0:
                with trio.move_on_after(min(self._limits.progress_every_s, left_s)) as pause:
                    await self._wakeup.wait()
                if not pause.cancelled_caught:
                    break
                if trio.current_time() < extend_at:
                    await self._extend(
                        [held for held in self._running() if held.unwritten is not None]
                    )
            self._wakeup = trio.Event()
            self._stop_the_slow()
            await self._extend(self._running())

    def _running(self) -> list[HeldJob]:
        return [held for held in self._held.values() if not held.is_ended]

    async def _extend(self, running: list[HeldJob]) -> None:
        if not running:
            return
        leases = [(held.job.id, held.job.fence) for held in running]
        progress = {held.job.id: new for held in running if (new := held.unwritten) is not None}
        try:
            extended = await self._jobs.extend(
                leases, self._clock.now(), self._limits.lease_s, progress
            )
        except StoreUnavailable as error:
            _log.warning("job_leases_not_extended", error=str(error))
            return
        for one in running:
            one.written = progress.get(one.job.id, one.written)
        for job_id in extended.lost:
            held = self._held.get(job_id)
            if held is not None and not held.is_ended:
                self._lost(held.job)
                held.stop(StopReason.LEASE_LOST)
        for job_id in extended.cancel_asked:
            held = self._held.get(job_id)
            if held is not None and not held.is_ended:
                held.stop(StopReason.CANCELLED)

    def _stop_the_slow(self) -> None:
        line = trio.current_time() - self._limits.run_timeout_s
        for held in self._held.values():
            if held.began <= line and not held.is_ended:
                held.stop(StopReason.TOO_SLOW)
