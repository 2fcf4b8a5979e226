"""The jobs of a morning: a zone's run, each user's set, and a check (R40-R45).

The calendar enqueues `offers.zone_run`. It freezes the pool and enqueues one `offers.user` for each
receiver, some in a transaction, so that spins do not wait long. It can be interrupted anywhere and
run again: the first frozen pool is kept, and the keys of the jobs prevent duplicates. `offers.user`
stores one set in the transaction that completes it; the first set of a user and date is kept.
`offers.check` runs later and counts what must not exist: a user who was offered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta

import msgspec
import structlog
import trio
from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, JobRun
from yoked_actor.actors.offers.runs import OfferRuns
from yoked_actor.actors.offers.turn import ZONE_RUN, zone_run_job
from yoked_actor.domain.jobs import Cancel, NewJob, Permanent, RetryPolicy, Snooze, user_part
from yoked_actor.domain.offers import FrozenRun
from yoked_actor.domain.ops import Objective
from yoked_actor.domain.time import (
    MICROSECONDS,
    Instant,
    Run,
    after,
    next_run,
    seconds_between,
    zone_named,
)
from yoked_actor.settings import Settings
from yoked_actor.store import Jobs, Offers, StoreSet, Tx, UnreadableRun, enqueue_in, finish_zone_run
from yoked_actor.telemetry import Metrics

_log = structlog.get_logger()

USER = "offers.user"
CHECK = "offers.check"
MORNING_JOBS = frozenset({ZONE_RUN, USER})
"""The jobs that take the time of a morning. A worker process runs them."""
POLICY = RetryPolicy(delays_s=(30.0, 120.0, 300.0))
"""An offer is tried four times: a morning is short (R33)."""
JOBS_AT_ONCE = 128
"""Jobs enqueued in one transaction: a spin may have to wait for it. As many rows as one statement
inserts."""
CHECK_AFTER_S = 900.0
"""By then every set is stored, or its job is a dead letter."""


class ZoneMorning(BaseModel):
    """A zone's run of a local date, and the instant for which it was planned."""

    zone: str
    date: date
    scheduled_at: Instant
    again: bool = False
    """Whether the run was frozen again: failed jobs of its users run once more."""


class UserMorning(BaseModel):
    """A user's set of a run."""

    zone: str
    date: date
    user_id: str


class RunCheck(BaseModel):
    """The run to check."""

    zone: str
    date: date


class EndedSet(msgspec.Struct, frozen=True, array_like=True):
    """What became of a user's set: stored, or left out because the user had one already."""

    user_id: str
    offers: int | None
    """How many offers were stored; None when the set was left out."""
    late_s: float = 0.0
    """How long after the scheduled instant it was stored."""


class OfferJobs:
    """The handlers, and what they share."""

    def __init__(
        self,
        offers: Offers,
        jobs: Jobs,
        clock: Clock,
        settings: Settings,
        metrics: Metrics,
        *,
        threads: bool = True,
        stored: Callable[[Sequence[str]], None] | None = None,
        ended: Callable[[EndedSet], None] | None = None,
    ) -> None:
        """`stored` is called with the users whose sets were stored, when they are counted.

        `ended` is called instead of counting them here; then runs are not judged here either.
        """
        self._offers = offers
        self._jobs = jobs
        self._clock = clock
        self._settings = settings
        self._metrics = metrics.sets
        self._objectives = metrics.objectives
        self._stored = stored
        self._judge = self._judge_users if ended is None else None
        self._ended = ended or (lambda one: self.count([one]))
        self._runs = OfferRuns(offers, threads=threads, shared=settings.store.is_shared)

    def register(self, dispatcher: Dispatcher) -> None:
        """Register the handlers with a dispatcher."""
        dispatcher.register(ZONE_RUN, ZoneMorning, self._zone_run, POLICY)
        dispatcher.register(USER, UserMorning, self._user, POLICY, quiet=True, judge=self._judge)
        dispatcher.register(CHECK, RunCheck, self._check, POLICY)
        self._wake_dispatcher = dispatcher.wake

    async def _zone_run(self, run: JobRun[ZoneMorning]) -> Snooze | None:
        name, day, at = run.payload.zone, run.payload.date, run.payload.scheduled_at
        early_s = seconds_between(self._clock.now(), at)
        if early_s > 0:
            # The clock was ahead when this job was claimed, and has been corrected.
            _log.warning("zone_run_early", zone=name, date=day.isoformat(), early_s=early_s)
            return Snooze(early_s)
        zone = zone_named(name) or zone_named("UTC")
        assert zone is not None
        settings = self._settings
        _, expires_at = next_run(zone, at, settings.offers.time_of_day())
        try:
            frozen = await self._offers.freeze_pool(
                name,
                day,
                at,
                expires_at,
                settings.offers.rules(settings.matching),
                self._clock.now(),
                settings.matching.rematch_after_days,
            )
        except UnreadableRun as error:
            raise Permanent(str(error)) from error
        if frozen.pool is None:
            raise Permanent("the pool was dropped: the run is too long ago")
        receivers = [person.user_id for person in frozen.pool.people if person.receives]
        _log.info("offers_frozen", zone=name, date=day.isoformat(), users=len(receivers))
        with self._runs.at_hand(frozen):
            await self._enqueue_users(run, receivers)
        if run.payload.again:
            await self._rerun(name, day)
        now = self._clock.now()
        check = check_job(name, day, after(now, CHECK_AFTER_S))

        def effect(tx: Tx) -> None:
            enqueue_in(tx, [check], now)
            finish_zone_run(tx, name, day, now, frozen.inputs)

        run.effect = effect
        return None

    async def _enqueue_users(self, run: JobRun[ZoneMorning], receivers: Sequence[str]) -> None:
        """Enqueue the jobs of the receivers. The first one of them makes the run meanwhile."""
        name, day, at = run.payload.zone, run.payload.date, run.payload.scheduled_at
        await self._runs.share(name, day, run.report)
        enqueued = 0
        for jobs in _in_parts(user_jobs(name, day, at, receivers), JOBS_AT_ONCE):
            run.report(enqueued, len(receivers), "jobs enqueued")
            await self._jobs.enqueue(jobs, self._clock.now())
            # Other processes are woken by the first part; then they find more by themselves.
            self._wake_dispatcher(alone=enqueued > 0)
            enqueued += len(jobs)
        run.report(enqueued, len(receivers), "jobs enqueued")

    async def _rerun(self, zone: str, day: date) -> None:
        """Run the failed jobs and dead letters of a run once more."""
        payload = {"zone": zone, "date": day.isoformat()}
        for job_type in (USER, ZONE_RUN):
            # In the order of their ids: a job that fails again is not taken a second time.
            last = 0
            while found := await self._jobs.rerun(
                job_type, payload, self._clock.now(), JOBS_AT_ONCE, last
            ):
                last = found[-1]
                self._wake_dispatcher()

    async def _user(self, run: JobRun[UserMorning]) -> Cancel | None:
        zone, day, user_id = run.payload.zone, run.payload.date, run.payload.user_id
        # Unless another worker has stored its sets, the first job computes the run for all jobs of
        # this process, which takes minutes in a large zone.
        made = self._runs.fresh_set_of(zone, day, user_id)
        if made is None:
            made = await self._runs.set_of(zone, day, user_id, run.report)
        if made is None and self._runs.is_refrozen(zone, day):
            return Cancel("the run was frozen again, and this user has a set already or has left")
        if made is None:
            raise Permanent(f"the run of {day} in {zone} has no set for this user")
        effect = StoreSet(made, self._clock.now())

        def then() -> None:
            late_s = (self._clock.now() - made.offered_at) / MICROSECONDS
            self._ended(EndedSet(user_id, made.offers if effect.is_kept else None, late_s))

        run.effect, run.then = effect, then
        return None

    def count(self, sets: Sequence[EndedSet]) -> None:
        """Count sets that were stored or left out, here or in a worker process."""
        stored = [one for one in sets if one.offers is not None]
        self._metrics.count_sets([one.offers for one in sets])
        late_s = [one.late_s for one in stored]
        self._objectives.judge(Objective.MORNING, late_s, trio.current_time())
        if stored and self._stored is not None:
            self._stored([one.user_id for one in stored])

    def _judge_users(self, result: str, seconds: Sequence[float]) -> None:
        """Judge jobs of users: their durations, and whether there will be sets."""
        now_s = trio.current_time()
        self._objectives.judge(Objective.OFFERS, seconds, now_s)
        if result == "dead_letter":
            self._objectives.count(Objective.MORNING, 0, len(seconds), now_s)

    async def _check(self, run: JobRun[RunCheck]) -> None:
        zone, day = run.payload.zone, run.payload.date
        doubled = await self._offers.count_doubled(zone, day)
        if doubled:
            self._metrics.duplicate_offers.inc(doubled)
            _log.error("duplicate_offers", zone=zone, date=day.isoformat(), offers=doubled)
        await self._offers.drop_parts(zone, day)
        await self._offers.drop_pools(day - timedelta(days=self._settings.offers.keep_pools_days))


async def refreeze(
    offers: Offers, zone: str, day: date, settings: Settings, now: Instant
) -> FrozenRun:
    """Freeze a run again, and enqueue the job that makes sets for the users who have none.

    Raises `NoSuchRun` when it was never frozen.
    """

    def again(frozen: FrozenRun) -> list[NewJob]:
        assert frozen.pool is not None
        scheduled_at = frozen.pool.offered_at
        run = Run(zone, day, scheduled_at)
        job = zone_run_job(run)
        payload = {**job.payload, "again": True}
        key = f"{run.key}:{frozen.refrozen}"
        return [msgspec.structs.replace(job, payload=payload, key=key, scheduled_for=now)]

    return await offers.refreeze(
        zone,
        day,
        settings.offers.rules(settings.matching),
        now,
        settings.matching.rematch_after_days,
        again,
    )


def user_jobs(zone: str, day: date, at: Instant, user_ids: Iterable[str]) -> Iterable[NewJob]:
    """The jobs that store the sets of these users."""
    text = day.isoformat()
    for user_id in user_ids:
        payload = {"zone": zone, "date": text, "user_id": user_id}
        # With the zone: a user who moves may be in two runs of a date; the store keeps one set.
        yield NewJob(USER, payload, at, key=f"{text}:{user_part(user_id)}:{zone}")


def check_job(zone: str, day: date, at: Instant) -> NewJob:
    """The job that checks a run."""
    payload = {"zone": zone, "date": day.isoformat()}
    return NewJob(CHECK, payload, at, key=f"{zone}:{day.isoformat()}")


def _in_parts(jobs: Iterable[NewJob], size: int) -> Iterable[list[NewJob]]:
    part: list[NewJob] = []
    for job in jobs:
        part.append(job)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
