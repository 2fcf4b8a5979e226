"""The jobs that a process has claimed, and their leases.

A lease goes on for as long as its job is held and not ended: all of them are extended together, a
few times before they would end. What a run says of its progress is written together with its lease,
and in between when there are news. Who has lost a lease, was cancelled, or takes too long is
stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.job_types import JobRun
from yoked_actor.domain.jobs import Job, Progress
from yoked_actor.settings import JobSettings
from yoked_actor.store import Jobs, StoreUnavailable

_log = structlog.get_logger()


class Why(Enum):
    """Why a held job should not go on."""

    CANCELLED = "cancelled"
    LEASE_LOST = "lease_lost"
    STOPPING = "stopping"
    TOO_SLOW = "too_slow"


class Held:
    """A job that this process has claimed."""

    __slots__ = ("began", "is_ended", "job", "run", "scope", "why", "written")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.run: JobRun[Any] | None = None
        self.written: Progress | None = None
        self.scope: trio.CancelScope | None = None
        self.began = math.inf
        self.is_ended = False
        self.why: Why | None = None

    @property
    def news(self) -> Progress | None:
        """What the run has said of its progress and is not written yet."""
        said = None if self.run is None else self.run.progress
        return None if said == self.written else said

    def stop(self, why: Why) -> None:
        """End it, if it has not been ended yet."""
        if self.why is None:
            self.why = why
            if self.scope is not None:
                self.scope.cancel()


class HeldJobs:
    """All that is held, from the claim until its end is recorded."""

    def __init__(
        self, jobs: Jobs, clock: Clock, limits: JobSettings, lost: Callable[[Job], None]
    ) -> None:
        """`lost` is told of every lease that somebody else has, or nobody."""
        self._jobs = jobs
        self._clock = clock
        self._limits = limits
        self._lost = lost
        self._held: dict[int, Held] = {}
        self._wakeup = trio.Event()
        self._came = trio.lowlevel.ParkingLot()
        self._went = trio.lowlevel.ParkingLot()

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[Held]:
        return iter(self._held.values())

    def get(self, job_id: int) -> Held | None:
        """A job, if it is held."""
        return self._held.get(job_id)

    def add(self, job: Job) -> Held:
        """Hold a job that was claimed."""
        held = self._held[job.id] = Held(job)
        self._came.unpark_all()
        return held

    def release(self, jobs: list[Job]) -> None:
        """Hold these jobs no longer."""
        for job in jobs:
            self._held.pop(job.id, None)
        self._went.unpark_all()

    def clear(self) -> None:
        """Hold nothing any more: nobody is left to run it. The leases end by themselves."""
        self._held.clear()
        self._went.unpark_all()

    async def until_empty(self) -> None:
        """Wait until nothing is held."""
        while self._held:
            await self._went.park()

    def wake(self) -> None:
        """Extend the leases now: a job may be cancelled."""
        self._wakeup.set()

    async def keep_leases(self) -> None:
        """Extend leases until cancelled."""
        while True:
            while not self._held:
                await self._came.park()
            extend_at = trio.current_time() + self._limits.lease_s / 3
            while (left_s := extend_at - trio.current_time()) > 0:
                with trio.move_on_after(min(self._limits.progress_every_s, left_s)) as pause:
                    await self._wakeup.wait()
                if not pause.cancelled_caught:
                    break
                if trio.current_time() < extend_at:
                    await self._extend([held for held in self._running() if held.news is not None])
            self._wakeup = trio.Event()
            self._stop_the_slow()
            await self._extend(self._running())

    def _running(self) -> list[Held]:
        return [held for held in self._held.values() if not held.is_ended]

    async def _extend(self, running: list[Held]) -> None:
        if not running:
            return
        leases = [(held.job.id, held.job.fence) for held in running]
        said = {held.job.id: news for held in running if (news := held.news) is not None}
        try:
            extended = await self._jobs.extend(
                leases, self._clock.now(), self._limits.lease_s, said
            )
        except StoreUnavailable as error:
            _log.warning("job_leases_not_extended", error=str(error))
            return
        for one in running:
            one.written = said.get(one.job.id, one.written)
        for job_id in extended.lost:
            held = self._held.get(job_id)
            if held is not None and not held.is_ended:
                self._lost(held.job)
                held.stop(Why.LEASE_LOST)
        for job_id in extended.cancel_asked:
            held = self._held.get(job_id)
            if held is not None and not held.is_ended:
                held.stop(Why.CANCELLED)

    def _stop_the_slow(self) -> None:
        line = trio.current_time() - self._limits.run_timeout_s
        for held in self._held.values():
            if held.began <= line and not held.is_ended:
                held.stop(Why.TOO_SLOW)
