"""Records how attempts ended: commits many in one transaction, then has them counted and logged.

An attempt whose lease has ended before the commit changes nothing, and is only counted. While the
store is unavailable outcomes wait; if their leases end meanwhile, another process may run the jobs,
and the fence rejects the old outcomes.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable

import structlog
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.job_types import JobType, kind_of, outline_of
from yoked_actor.actors.jobs.reports import EndedAttempt, JobReports
from yoked_actor.domain.jobs import Job, Retry, after_failure
from yoked_actor.settings import Settings
from yoked_actor.store import (
    CancelAsked,
    Cancelled,
    Completed,
    DeadLettered,
    Failed,
    Jobs,
    JointEffect,
    LeaseLost,
    Outcome,
    Snoozed,
    StoreUnavailable,
)

_log = structlog.get_logger()
_FULL = 128
"""What the effects of one transaction weigh at most: a spin may have to wait for it."""
_LARGE_BATCH, _ROUNDS_TO_NEXT_COMMIT = 100, 3
"""To count and log a large batch takes half as long as a commit, and is done beside the next one:
after so many rounds of the event loop the next claim is on its way to the store."""


class JobRecorder:
    """Commits outcomes in batches: those that came during one commit share the next."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        settings: Settings,
        reports: JobReports,
        recorded: Callable[[list[Job], bool], None],
        *,
        tells_others: bool,
    ) -> None:
        """`recorded` is called with jobs whose outcome is stored, and whether some wait again.

        `tells_others`: the process that enqueues jobs for this one learns which runs have ended.
        """
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._reports = reports
        self._recorded = recorded
        self._tells_others = tells_others
        self._waiting: list[EndedAttempt] = []
        self._weight = 0
        """What the effects of the waiting outcomes weigh."""
        self._in_progress = 0
        """How many commits are queued or in progress."""
        self._filled = trio.lowlevel.ParkingLot()

    def put(self, ended: EndedAttempt) -> None:
        """Record an outcome soon. Does not block."""
        self._waiting.append(ended)
        self._weight += _weight_of(ended.outcome)
        if len(self._waiting) == 1 or self._weight >= _FULL:
            self._filled.unpark()

    def put_failure(
        self,
        job: Job,
        kind: JobType,
        error: BaseException,
        seconds: float,
    ) -> None:
        """Record a failure soon: a retry or a dead letter, by the job's policy."""
        now = self._clock.now()
        what = kind_of(error)
        decision = after_failure(kind.policy, job, what, now)
        text = "".join(traceback.format_exception(error))
        if isinstance(decision, Retry):
            outcome: Outcome = Failed(job.id, job.fence, decision.at, text, outline_of(error))
        else:
            outline = f"{decision.reason}\n{outline_of(error)}"
            outcome = DeadLettered(job.id, job.fence, f"{decision.reason}\n{text}", what, outline)
        self.put(EndedAttempt(job, kind, outcome, seconds))

    async def run(self) -> None:
        """Record until cancelled."""
        while True:
            while not self._is_worth_a_commit():
                await self._filled.park()
            taken = self._take()
            if self._waiting:
                self._filled.unpark()  # another task can queue the rest meanwhile
            await self._record(taken)

    def _is_worth_a_commit(self) -> bool:
        """Whether to commit now what waits, or to let more come during the commit in progress.

        One batch may be queued behind that commit; with effects, a full one.
        """
        if not self._waiting or self._in_progress > 1:
            return False
        return not self._in_progress or not self._weight or self._weight >= _FULL

    def _take(self) -> list[EndedAttempt]:
        """The next batch: all waiting outcomes, or as many as fill a transaction."""
        waiting, weight = self._waiting, 0
        for index, one in enumerate(waiting):
            weight += (more := _weight_of(one.outcome))
            if weight > _FULL:
                self._waiting = waiting[index:]
                self._weight -= weight - more
                return waiting[:index]
        self._waiting = []
        self._weight = 0
        return waiting

    async def _record(self, taken: list[EndedAttempt]) -> None:
        self._in_progress += 1
        try:
            errors = await self._settle([one.outcome for one in taken])
        finally:
            self._in_progress -= 1
            if self._waiting:
                self._filled.unpark()
        done, lost = taken, list[Job]()
        if errors.count(None) < len(errors):
            done, lost = self._sort_out(taken, errors)
        if len(done) >= _LARGE_BATCH:
            for _ in range(_ROUNDS_TO_NEXT_COMMIT):
                await trio.lowlevel.cancel_shielded_checkpoint()
        self._reports.report(done)
        # Nearly all outcomes are completions without an effect, which leave nothing to do.
        others = [
            one.outcome
            for one in done
            if type(one.outcome) is not Completed or one.outcome.effect is not None
        ]
        some_wait_again = any(map(self._may_leave_work, others))
        self._recorded([one.job for one in done] + lost, some_wait_again)

    async def _settle(self, outcomes: list[Outcome]) -> list[Exception | None]:
        """Commit outcomes, as soon as the store is available; returns the error of each."""
        delay_s = self._settings.store.retry_first_s
        while True:
            try:
                return await self._jobs.settle(outcomes, self._clock.now())
            except StoreUnavailable as error:
                _log.error("job_outcomes_not_stored", error=str(error), retry_in_s=delay_s)
                await trio.sleep(delay_s)
                delay_s = min(2 * delay_s, self._settings.store.retry_cap_s)

    def _sort_out(
        self, taken: list[EndedAttempt], errors: list[Exception | None]
    ) -> tuple[list[EndedAttempt], list[Job]]:
        """The attempts that are recorded, and jobs whose lease was lost.

        Other errors are recorded soon, as outcomes.
        """
        done: list[EndedAttempt] = []
        lost: list[Job] = []
        for one, failed in zip(taken, errors, strict=True):
            if failed is None:
                done.append(one)
            elif isinstance(failed, LeaseLost):
                lost.append(one.job)
                self._reports.count_lost(one.job)
            elif isinstance(failed, CancelAsked):
                outcome = Cancelled(one.job.id, one.job.fence, str(failed))
                self.put(EndedAttempt(one.job, one.kind, outcome, one.seconds))
            else:
                self.put_failure(one.job, one.kind, failed, one.seconds)
        return done, lost

    def _may_leave_work(self, outcome: Outcome) -> bool:
        """Whether a process has something to do: a retry, or what an effect has written."""
        if not isinstance(outcome, Completed):
            return isinstance(outcome, Failed | Snoozed)
        if self._tells_others and isinstance(outcome.effect, JointEffect):
            return False  # it enqueues nothing, and the report says what was stored
        return outcome.effect is not None


def _weight_of(outcome: Outcome) -> int:
    """What the effect of an outcome weighs: what many jobs write together is cheap for each."""
    if not isinstance(outcome, Completed) or outcome.effect is None:
        return 0
    return 1 if isinstance(outcome.effect, JointEffect) else 4
