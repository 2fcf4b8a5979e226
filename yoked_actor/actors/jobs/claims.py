"""Claims: which jobs a process takes from the queue, how many at once, and when.

A process sleeps until a job is enqueued, the next job is due or the next lease ends; it does not
poll. A claim takes about as many jobs as can be run in a short time, so that a crash costs few
attempts and a second process finds work too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.attempts import Attempts
from yoked_actor.actors.jobs.held_jobs import HeldJobs
from yoked_actor.actors.jobs.job_types import JobType
from yoked_actor.actors.jobs.reports import JobReports
from yoked_actor.actors.jobs.watch import JobWatch
from yoked_actor.actors.jobs.workers import Workers
from yoked_actor.domain.jobs import Job, NewJob
from yoked_actor.domain.time import Instant
from yoked_actor.settings import Settings
from yoked_actor.store import Enqueued, Jobs, StoreUnavailable
from yoked_actor.telemetry import JobMetrics

_log = structlog.get_logger()


class Claims:
    """Claims due jobs and gives them to the workers, while there is room for more."""

    def __init__(
        self,
        owner: str,
        jobs: Jobs,
        clock: Clock,
        settings: Settings,
        metrics: JobMetrics,
        *,
        types: Mapping[str, JobType],
        held: HeldJobs,
        attempts: Attempts,
        reports: JobReports,
        watch: JobWatch,
        at_most: int | None,
        gives_way: Callable[[], bool] | None,
    ) -> None:
        """`at_most` limits a claim further than `jobs.batch`. `gives_way`: see `Workers`."""
        self._owner = owner
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._limits = settings.jobs
        self._metrics = metrics
        self._types = types
        self._held = held
        self._attempts = attempts
        self._reports = reports
        self._watch = watch
        self.workers = Workers(attempts, self.make_room, gives_way)
        self._left: frozenset[str] = frozenset()
        """Types whose jobs are left to another process."""
        self._expected: set[int] = set()
        """Due jobs that this process has enqueued since its last claim."""
        self._batch = self._limits.batch if at_most is None else min(self._limits.batch, at_most)
        self._size = min(self._limits.concurrency, self._batch)
        # Runs may end faster than their outcomes are committed; then claims have to wait.
        self._most_held = 3 * max(self._limits.concurrency, self._batch)
        self._is_woken = False
        self._wakeup = trio.Event()
        self._room_made = trio.lowlevel.ParkingLot()
        self._waits_for_room = False
        self._ended = False

    def leave(self, types: frozenset[str]) -> bool:
        """Leave jobs of these types to another process, and no others; is this a change?"""
        changed = types != self._left
        self._left = types
        return changed

    def expect(self, jobs: Sequence[NewJob], enqueued: Sequence[Enqueued]) -> None:
        """Look for these jobs first: this process has enqueued them, and knows where they are."""
        now = self._clock.now()
        for job, one in zip(jobs, enqueued, strict=True):
            if one.is_new and job.scheduled_for <= now and len(self._expected) < self._most_held:
                self._expected.add(one.job_id)

    def wake(self) -> None:
        """Look for due jobs now."""
        self._is_woken = True
        self._wakeup.set()

    def end(self) -> None:
        """Stop claiming, and give back the jobs that do not run yet."""
        self._ended = True
        for held in self.workers.take_back():
            self._attempts.give_back(held)

    def make_room(self) -> None:
        """Wake `keep_claiming` if it waits for room and there is some now."""
        if self._waits_for_room and self._has_room():
            self._waits_for_room = False
            self._room_made.unpark_all()

    async def keep_claiming(self) -> None:
        """Claim jobs until cancelled."""
        delay_s = self._settings.store.retry_first_s
        while True:
            while self._ended or not self._has_room():
                await self._wait_for_room()
            self._is_woken = False
            limit = self._size
            began = trio.current_time()
            policies = {
                name: kind.policy for name, kind in self._types.items() if name not in self._left
            }
            expected, self._expected = self._expected, set()
            try:
                claimed = await self._jobs.claim(
                    self._owner,
                    self._clock.now(),
                    self._limits.lease_s,
                    limit,
                    policies,
                    list(expected),
                )
            except StoreUnavailable as error:
                self._metrics.claims_refused.inc()
                _log.warning("jobs_not_claimed", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)
                continue
            delay_s = self._settings.store.retry_first_s
            self._reports.count_races(claimed.lost)
            self._reports.count_rescued(claimed.rescued)
            self._take(claimed.jobs)
            if len(claimed.jobs) == limit:
                await self._adapt(began)
            elif not self._is_woken:
                await self._sleep_until(claimed.next_due_at)

    def _has_room(self) -> bool:
        most = self._most_held - self._size
        return len(self.workers) <= self._reserve() and len(self._held) <= most

    def _reserve(self) -> int:
        """How many jobs are ready at most when more are claimed.

        Quick jobs, for which claims have become larger, are all run before the next claim returns
        unless there are as many again.
        """
        size = self._size
        return size if size > self._limits.concurrency else size // 2

    def _take(self, jobs: list[Job]) -> None:
        (self._metrics.claims_of_some if jobs else self._metrics.claims_of_none).inc()
        if not jobs:
            _log.debug("nothing_to_claim")
            return
        self._metrics.claimed.inc(len(jobs))
        held = self._held.add(jobs)
        if self._ended:
            for one in held:
                self._attempts.give_back(one)
        else:
            self.workers.add(held)
        self._metrics.held.set(len(self._held))
        self._watch.wake()

    async def _adapt(self, began: float) -> None:
        """Claim more jobs at once while they run quickly, fewer while they do not."""
        while len(self.workers) > self._reserve() and not self._ended:
            await self._wait_for_room()
        lasted_s = trio.current_time() - began
        if lasted_s < self._limits.ahead_s:
            self._size = min(2 * self._size, self._batch)
        elif lasted_s > 2 * self._limits.ahead_s:
            least = min(self._limits.concurrency, self._batch)
            self._size = max(self._size // 2, least)

    async def _sleep_until(self, at: Instant | None) -> None:
        self._wakeup = trio.Event()
        with self._clock.until(at):
            await self._wakeup.wait()

    async def _wait_for_room(self) -> None:
        self._waits_for_room = True
        await self._room_made.park()
