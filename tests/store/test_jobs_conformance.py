"""What every job store owes: a state machine that works, crashes and looks, whatever the order.

Two workers and an operator do to a queue all that can be done to it, on a clock that jumps both
ways. Every call may be struck by a crash, between any two statements; the machine then finds the
queue as it was before the call or as it is after it, and nothing else. In the end the workers are
let run, and every job comes to its end. Another store is put under it by another house.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, ClassVar, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.postgres import PostgresServer
from tests.store.job_house import SqliteJobHouse, State
from tests.store.postgres_job_house import PostgresJobHouse
from yoked_actor.domain.jobs import (
    JOB_TRANSITIONS,
    Dismissal,
    ErrorKind,
    ImpossibleJobMove,
    Job,
    JobCause,
    JobStatus,
    NewJob,
    NotDismissable,
    Retry,
    RetryPolicy,
    after_failure,
)
from yoked_actor.domain.jobs.states import ENDED, LIVE, WAITING
from yoked_actor.domain.time import MICROSECONDS
from yoked_actor.store import (
    CancelAsked,
    Completed,
    Jobs,
    KeyConflict,
    LeaseLost,
    NoSuchJob,
    Outcome,
    Snoozed,
)

START = 1_767_254_400_000_000
LEASE_S = 60.0
POLICIES = {"mail": RetryPolicy(delays_s=(30.0, 120.0)), "call": RetryPolicy(base_s=60, runs=3)}
WORKERS = ("ana", "bob")
CRASHES = st.integers(-40, 80)
"""After how many steps a call is struck; never, when negative."""
PICKS = st.integers(0, 10_000)
WAITS = st.sampled_from([0.0, 0.0, 31.0, 61.0, 130.0])


class Attempt(NamedTuple):
    """What a worker remembers of a claim, as long as it lives and often much longer."""

    job_id: int
    fence: int


class JobMachine(RuleBasedStateMachine):
    """Do anything, crash anywhere, look."""

    make_house: ClassVar[Callable[[], Any]] = SqliteJobHouse

    @initialize()
    def open(self) -> None:
        self.house = type(self).make_house()
        self.now = START
        self.before = self.after = State({}, [])
        self.attempts: list[Attempt] = []
        self.gone: dict[int, Job] = {}
        """Jobs that were pruned, as they were."""
        for number in range(4):
            key = "a" if number == 0 else None
            self.enqueue(1, sorted(POLICIES)[number % 2], 0, key, 0, 0, -1, True)
            self.before = self.after
        self.claim("ana", 3, None, 0, -1, True)
        self.before = self.after

    def teardown(self) -> None:
        if not hasattr(self, "house"):
            return
        try:
            self._let_the_workers_run()
        finally:
            self.house.close()

    # What can be done

    @precondition(lambda self: len(self.before.jobs) < 12)
    @rule(
        count=st.integers(1, 4),
        kind=st.sampled_from(sorted(POLICIES)),
        delay_s=st.sampled_from([0, 0, 0, 1, 100]),
        key=st.sampled_from([None, None, "a", "b"]),
        payload=st.integers(0, 1),
        priority=st.integers(-1, 1),
        crash_at=CRASHES,
        goes_on=st.booleans(),
    )
    def enqueue(self, count, kind, delay_s, key, payload, priority, crash_at, goes_on) -> None:
        at = self.now + delay_s * MICROSECONDS
        new = NewJob(kind, {"n": payload}, at, key, priority)
        named = [j for j in self._known().values() if key and (j.type, j.key) == (kind, key)]

        async def call(jobs: Jobs):
            try:
                return await jobs.enqueue([new] * count, self.now)
            except KeyConflict as conflict:
                return conflict

        found = self._do(call, crash_at, goes_on)
        if found is None:
            return
        after = self.after.jobs
        if isinstance(found, KeyConflict):
            assert named
            assert named[0].payload != f'{{"n":{payload}}}'
            assert after == self.before.jobs
        elif named:
            assert {(one.job_id, one.is_new) for one in found} == {(named[0].id, False)}
            assert after == self.before.jobs
        else:
            made = after.keys() - self.before.jobs.keys()
            assert made == {one.job_id for one in found if one.is_new}
            assert len(made) == (1 if key else count)
            assert min(made) > max(self._known(), default=0), "an id is never given twice"
            assert all(after[job_id].status is JobStatus.PENDING for job_id in made)

    @precondition(lambda self: self.before.jobs)
    @rule(
        worker=st.sampled_from(WORKERS),
        limit=st.integers(1, 5),
        only=st.sampled_from([None, None, "mail"]),
        after_s=WAITS,
        crash_at=CRASHES,
        goes_on=st.booleans(),
    )
    def claim(self, worker, limit, only, after_s, crash_at, goes_on) -> None:
        self.jump(after_s)
        policies = {k: v for k, v in POLICIES.items() if only in (None, k)}

        async def call(jobs: Jobs):
            return await jobs.claim(worker, self.now, LEASE_S, limit, policies)

        found = self._do(call, crash_at, goes_on)
        if found is None:
            return
        before, after = self.before.jobs, self.after.jobs
        rescued = {job.id for job in found.rescued}
        for job in found.jobs:
            old = before[job.id]
            assert job == after[job.id]
            assert old.status in WAITING or job.id in rescued
            assert old.scheduled_for <= self.now, "nothing runs early"
            assert job.type in policies
            assert (job.owner, job.fence, job.attempts) == (worker, old.fence + 1, old.attempts + 1)
            self.attempts.append(Attempt(job.id, job.fence))
        order = [(job.priority, job.scheduled_for, job.id) for job in found.jobs]
        left = [j for j in after.values() if j.status in WAITING and j.type in policies]
        due = [(j.priority, j.scheduled_for, j.id) for j in left if j.scheduled_for <= self.now]
        assert order + sorted(due) == sorted(order + due), "who comes first is claimed first"
        if len(found.jobs) < limit:
            assert all(j.scheduled_for > self.now for j in left), "what is due is claimed"
            instants = [j.scheduled_for for j in left]
            instants += [
                j.lease_until for j in after.values() if j.lease_until and j.type in policies
            ]
            if len(found.rescued) < limit:
                assert found.next_due_at == min(instants, default=None)
        for job in found.rescued:
            self._check_rescue(before[job.id], job)

    def _complete(self, which, crash_at, goes_on) -> None:
        self._end(
            which,
            lambda jobs, a: jobs.complete(a.job_id, a.fence, self.now, self.house.effect(a.job_id)),
            JobStatus.COMPLETED,
            crash_at,
            goes_on,
        )

    def _settle_many(self, whiches, crash_at, goes_on) -> None:
        chosen = list(dict.fromkeys(filter(None, map(self._pick, whiches))))
        if not chosen:
            return
        held = [self._holds(attempt) for attempt in chosen]
        outcomes: list[Outcome] = [
            Snoozed(*attempt)
            if attempt.job_id % 5 == 0
            else Completed(*attempt, self.house.effect(attempt.job_id))
            for attempt in chosen
        ]

        async def call(jobs: Jobs):
            return await jobs.settle(outcomes, self.now)

        errors = self._do(call, crash_at, goes_on)
        if errors is None:
            return
        for attempt, outcome, holds, error in zip(chosen, outcomes, held, errors, strict=True):
            if not holds:
                assert isinstance(error, LeaseLost)
            elif self.before.jobs[attempt.job_id].cancel_asked and isinstance(outcome, Completed):
                assert isinstance(error, CancelAsked)
            else:
                assert error is None

    def _complete_with_an_effect_that_fails(self, which, crash_at, goes_on) -> None:
        attempt = self._pick(which)
        if attempt is None:
            return

        def effect(connection) -> None:
            self.house.effect(attempt.job_id)(connection)
            raise ZeroDivisionError

        async def call(jobs: Jobs):
            return await jobs.settle([Completed(*attempt, effect)], self.now)

        found = self._do(call, crash_at, goes_on)
        if found is not None:
            assert isinstance(found[0], ZeroDivisionError | LeaseLost | CancelAsked)
            assert self.after == self.before

    def _fail(self, which, transient, crash_at, goes_on) -> None:
        attempt = self._pick(which)
        job = attempt and self.before.jobs.get(attempt.job_id)
        if not job:
            return
        kind = ErrorKind.TRANSIENT if transient else ErrorKind.LOGIC
        decision = after_failure(POLICIES[job.type], job, kind, self.now)
        retry_at = decision.at if isinstance(decision, Retry) else None
        self._end(
            which,
            lambda jobs, a: jobs.fail(a.job_id, a.fence, self.now, retry_at, "it went wrong"),
            JobStatus.DEAD_LETTER if retry_at is None else JobStatus.FAILED,
            crash_at,
            goes_on,
        )

    def _snooze(self, which, for_s, crash_at, goes_on) -> None:
        until = None if for_s is None else self.now + for_s * MICROSECONDS
        self._end(
            which,
            lambda jobs, a: jobs.snooze(a.job_id, a.fence, self.now, until),
            JobStatus.PENDING,
            crash_at,
            goes_on,
        )

    def _extend(self, whiches, crash_at, goes_on) -> None:
        chosen = list(dict.fromkeys(filter(None, map(self._pick, whiches))))
        held = {attempt for attempt in chosen if self._holds(attempt)}

        async def call(jobs: Jobs):
            return await jobs.extend(chosen, self.now, LEASE_S)

        found = self._do(call, crash_at, goes_on)
        if found is None:
            return
        holding = {attempt.job_id for attempt in held}
        assert set(found.lost) == {attempt.job_id for attempt in chosen} - holding
        after = self.after.jobs
        for job_id, job in after.items():
            old = self.before.jobs[job_id]
            if job_id in holding:
                assert job.lease_until is not None
                assert job.lease_until >= self.now + LEASE_S * MICROSECONDS
                assert (job_id in found.cancel_asked) == old.cancel_asked
            else:
                assert job == old

    def _cancel(self, which, crash_at, goes_on) -> None:
        self._operate(which, JobCause.CANCELLED, Jobs.cancel.__name__, crash_at, goes_on)

    def _retry(self, which, crash_at, goes_on) -> None:
        self._operate(which, JobCause.RETRIED, Jobs.retry.__name__, crash_at, goes_on)

    def _requeue(self, which, crash_at, goes_on) -> None:
        self._operate(which, JobCause.REQUEUED, Jobs.requeue.__name__, crash_at, goes_on)

    def _dismiss(self, which, crash_at, goes_on) -> None:
        dead = [i for i, j in self.before.jobs.items() if j.status is JobStatus.DEAD_LETTER]
        ids = dead if dead and which % 4 else sorted(self._known())
        job_id = ids[which % len(ids)]
        job = self.before.jobs.get(job_id)

        async def call(jobs: Jobs):
            try:
                return await jobs.dismiss(job_id, "olga", "known", self.now)
            except (NoSuchJob, ImpossibleJobMove) as error:
                return error

        found = self._do(call, crash_at, goes_on)
        if found is None:
            return
        if job is None:
            assert isinstance(found, NoSuchJob)
        elif job.status is not JobStatus.DEAD_LETTER or job.dismissal:
            assert isinstance(found, NotDismissable)
            assert self.after == self.before
        else:
            assert found == self.after.jobs[job_id]
            assert found.status is JobStatus.DEAD_LETTER
            assert found.dismissal == Dismissal(self.now, "olga", "known")

    def _requeue_all(self, kind, crash_at, goes_on) -> None:
        dead = [
            job.id
            for job in self.before.jobs.values()
            if job.type == kind and job.status is JobStatus.DEAD_LETTER and not job.dismissal
        ]

        async def call(jobs: Jobs):
            return await jobs.requeue_dead(kind, self.now, 3)

        found = self._do(call, crash_at, goes_on)
        if found is not None:
            assert found == sorted(dead)[:3]

    def _prune(self, age_s, limit, dead, crash_at, goes_on) -> None:
        line = self.now - age_s * MICROSECONDS
        old = {
            job.id: job
            for job in self.before.jobs.values()
            if job.completed_at is not None
            and job.completed_at < line
            and (job.status is JobStatus.DEAD_LETTER) == dead
        }

        async def call(jobs: Jobs):
            return await jobs.prune(line, limit, dead=dead)

        found = self._do(call, crash_at, goes_on)
        left = self.after.jobs
        gone = {job_id: job for job_id, job in self.before.jobs.items() if job_id not in left}
        assert gone.items() <= old.items()
        if found is not None:
            assert found == len(gone) == min(limit, len(old))

    # Few rules with many ways, because of many rules a run would leave most out.

    @precondition(lambda self: self.attempts)
    @rule(
        how=st.sampled_from(["complete", "many", "fail", "snooze", "extend", "bury", "break"]),
        whiches=st.lists(PICKS, min_size=1, max_size=5),
        for_s=st.sampled_from([None, 0, 90]),
        after_s=WAITS,
        crash_at=CRASHES,
        goes_on=st.booleans(),
    )
    def end_an_attempt(self, how, whiches, for_s, after_s, crash_at, goes_on) -> None:
        self.jump(after_s)
        which = whiches[0]
        if how == "complete":
            self._complete(which, crash_at, goes_on)
        elif how == "many":
            self._settle_many(whiches, crash_at, goes_on)
        elif how == "break":
            self._complete_with_an_effect_that_fails(which, crash_at, goes_on)
        elif how == "snooze":
            self._snooze(which, for_s, crash_at, goes_on)
        elif how == "extend":
            self._extend(whiches, crash_at, goes_on)
        else:
            self._fail(which, how == "fail", crash_at, goes_on)

    @precondition(lambda self: self.before.jobs)
    @rule(
        how=st.sampled_from(["cancel", "retry", "requeue", "dismiss", "requeue_all", "prune"]),
        which=PICKS,
        kind=st.sampled_from(sorted(POLICIES)),
        age_s=st.sampled_from([-1, 0, 60]),
        limit=st.integers(1, 9),
        crash_at=CRASHES,
        goes_on=st.booleans(),
    )
    def operate(self, how, which, kind, age_s, limit, crash_at, goes_on) -> None:
        if how == "prune":
            self._prune(age_s, limit, which % 2 == 0, crash_at, goes_on)
        elif how == "dismiss":
            self._dismiss(which, crash_at, goes_on)
        elif how == "requeue_all":
            self._requeue_all(kind, crash_at, goes_on)
        else:
            {"cancel": self._cancel, "retry": self._retry, "requeue": self._requeue}[how](
                which, crash_at, goes_on
            )

    @precondition(lambda self: any(map(self._holds, self.attempts)))
    @rule(which=PICKS, goes_on=st.booleans())
    def cancel_what_runs_and_let_it_end(self, which, goes_on) -> None:
        holders = [attempt for attempt in self.attempts if self._holds(attempt)]
        attempt = holders[which % len(holders)]
        effect = self.house.effect(attempt.job_id)
        completed = Completed(attempt.job_id, attempt.fence, effect)

        async def cancel(jobs: Jobs):
            return await jobs.cancel(attempt.job_id, self.now)

        assert self._do(cancel, -1, True).cancel_asked
        self.before = self.after

        async def complete(jobs: Jobs):
            return await jobs.settle([completed], self.now)

        (error,) = self._do(complete, -1, goes_on)
        assert isinstance(error, CancelAsked)
        assert self.after == self.before, "what was cancelled while it ran never completes"

    @precondition(lambda self: any(map(self._holds, self.attempts)))
    @rule(which=PICKS, goes_on=st.booleans())
    def come_back_after_somebody_else_took_over(self, which, goes_on) -> None:
        holders = [attempt for attempt in self.attempts if self._holds(attempt)]
        attempt = holders[which % len(holders)]
        # The clock may have been set back since the claim.
        self.now = max(self.now, self.before.jobs[attempt.job_id].lease_until or 0)
        # One claim rescues what the worker held, another one takes it after its pause.
        for seconds in (LEASE_S + 1, 300):
            self.jump(seconds)
            self.claim("bob", 20, None, 0, -1, True)
            self.nothing_is_doubled_and_nothing_is_lost()
        completed = Completed(attempt.job_id, attempt.fence, self.house.effect(attempt.job_id))

        async def complete(jobs: Jobs):
            return await jobs.settle([completed], self.now)

        async def extend(jobs: Jobs):
            return await jobs.extend([attempt], self.now, LEASE_S)

        async def fail(jobs: Jobs):
            try:
                return await jobs.fail(attempt.job_id, attempt.fence, self.now, None, "too late")
            except LeaseLost as error:
                return [error]

        assert self._do(extend, -1, True).lost == [attempt.job_id]
        for ending in (complete, fail):
            (error,) = self._do(ending, -1, goes_on)
            assert isinstance(error, LeaseLost)
            assert self.after == self.before, "who lost the lease changes nothing"

    @rule(seconds=st.sampled_from([-90.0, 0.000001, 1.0, 29.0, 31.0, 61.0, 300.0]))
    def jump(self, seconds) -> None:
        self.now += round(seconds * MICROSECONDS)

    # What always holds

    @invariant()
    def nothing_is_doubled_and_nothing_is_lost(self) -> None:
        if not hasattr(self, "house"):
            return
        state = self.after
        for job_id, job in state.jobs.items():
            old = self.before.jobs.get(job_id, self.gone.get(job_id))
            assert 0 <= job.attempts <= POLICIES[job.type].max_runs
            if old is not None:
                assert job.fence >= old.fence, "a fence only grows"
                assert job.attempts <= job.fence
                assert old.status is not JobStatus.COMPLETED or job == old, "completed is for ever"
        self.gone |= {i: job for i, job in self.before.jobs.items() if i not in state.jobs}
        assert all(job.status in ENDED for job in self.gone.values())
        everyone = self.gone | state.jobs
        completed = sorted(i for i, job in everyone.items() if job.status is JobStatus.COMPLETED)
        assert state.effects == completed, "one effect for each completed job, none for others"
        self.before = state

    # How it is done

    def _do(self, call: Callable[[Jobs], Awaitable[Any]], crash_at: int, goes_on: bool):
        """Call, crash, look; None when the call was struck and its answer never came."""
        answer, image = self.house.run(call, crash_at)
        after = self.after = self.house.state()
        if crash_at < 0:
            return answer
        found, faults, directory = self.house.state_of(image)
        assert faults == []
        assert found in (self.before, after), "all of a call, or nothing of it"
        if goes_on:
            return answer
        self.house.restart(directory)
        self.after = found
        if found == after:
            return answer
        return None

    def _end(self, which, call, to: JobStatus, crash_at: int, goes_on: bool) -> None:
        attempt = self._pick(which)
        if attempt is None:
            return
        holds = self._holds(attempt)
        job = self.before.jobs.get(attempt.job_id)

        async def ending(jobs: Jobs):
            try:
                await call(jobs, attempt)
            except (LeaseLost, CancelAsked) as error:
                return error
            return "done"

        found = self._do(ending, crash_at, goes_on)
        if found is None:
            return
        after = self.after
        if not holds or job is None:
            assert isinstance(found, LeaseLost)
            assert after == self.before, "an expired owner changes nothing"
        elif job.cancel_asked and to is JobStatus.COMPLETED:
            assert isinstance(found, CancelAsked)
            assert after == self.before
        else:
            ended = after.jobs[job.id]
            assert found == "done"
            assert ended.status is (JobStatus.CANCELLED if job.cancel_asked else to)
            assert ended.attempts == job.attempts - (to is JobStatus.PENDING)
            assert (ended.completed_at is not None) == (ended.status in ENDED)

    def _operate(
        self, which: int, cause: JobCause, method: str, crash_at: int, goes_on: bool
    ) -> None:
        running = [i for i, one in self.before.jobs.items() if one.lease_until is not None]
        ids = running if running and which % 3 == 0 else sorted(self._known())
        if not ids:
            return
        job_id = ids[which % len(ids)]
        job = self.before.jobs.get(job_id)

        async def call(jobs: Jobs):
            try:
                return await getattr(jobs, method)(job_id, self.now)
            except (NoSuchJob, ImpossibleJobMove) as error:
                return error

        found = self._do(call, crash_at, goes_on)
        if found is None:
            return
        after = self.after
        if job is None:
            assert isinstance(found, NoSuchJob)
        elif (job.status, cause) not in JOB_TRANSITIONS:
            assert isinstance(found, ImpossibleJobMove)
            assert after == self.before, "what is not in the table changes nothing"
        else:
            assert found == after.jobs[job_id]
            if job.status is JobStatus.IN_PROGRESS:
                assert found.cancel_asked
                assert found.status is job.status
            else:
                assert found.status is JOB_TRANSITIONS[job.status, cause]

    def _check_rescue(self, old: Job, job: Job) -> None:
        assert old.status is JobStatus.IN_PROGRESS
        assert old.lease_until is not None
        assert old.lease_until <= self.now, "a lease that goes on is left alone"
        decision = after_failure(POLICIES[old.type], old, ErrorKind.LOST_LEASE, self.now)
        if old.cancel_asked:
            assert job.status is JobStatus.CANCELLED
        elif isinstance(decision, Retry):
            assert (job.status, job.scheduled_for) == (JobStatus.FAILED, decision.at)
        else:
            assert job.status is JobStatus.DEAD_LETTER

    def _pick(self, which: int) -> Attempt | None:
        """Any attempt, but most often one whose job is running, by it or by a later one."""
        jobs = self.before.jobs
        running = [
            attempt
            for attempt in self.attempts
            if attempt.job_id in jobs and jobs[attempt.job_id].status is JobStatus.IN_PROGRESS
        ]
        chosen = running if running and which % 8 else self.attempts
        return chosen[which % len(chosen)] if chosen else None

    def _holds(self, attempt: Attempt) -> bool:
        job = self.before.jobs.get(attempt.job_id)
        return (
            job is not None
            and job.status is JobStatus.IN_PROGRESS
            and job.fence == attempt.fence
            and job.lease_until is not None
            and job.lease_until > self.now
        )

    def _known(self) -> dict[int, Job]:
        return self.gone | self.before.jobs

    def _let_the_workers_run(self) -> None:
        """Liveness: workers that do their work bring every live job to its end."""

        async def work(jobs: Jobs) -> list[int]:
            done = []
            while True:
                claimed = await jobs.claim("ana", self.now, LEASE_S, 3, POLICIES)
                for job in claimed.jobs:
                    try:
                        effect = self.house.effect(job.id)
                        await jobs.complete(job.id, job.fence, self.now, effect)
                    except CancelAsked:
                        await jobs.fail(job.id, job.fence, self.now, None, "cancelled")
                    done.append(job.id)
                if claimed.jobs or claimed.rescued:
                    continue
                if claimed.next_due_at is None:
                    return done
                self.now = max(self.now, claimed.next_due_at)

        waiting = {i for i, job in self.house.state().jobs.items() if job.status in LIVE}
        done, _ = self.house.run(work, -1)
        assert max(Counter(done).values(), default=1) == 1
        assert set(done) <= waiting
        assert not any(job.status in LIVE for job in self.house.state().jobs.values())
        assert self.house.faults() == []
        self.after = self.house.state()
        self.nothing_is_doubled_and_nothing_is_lost()


def run_machine(machine: type[JobMachine], examples: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_whatever_is_done_and_wherever_it_crashes_each_job_ends_once() -> None:
    run_machine(JobMachine, 60)


def test_the_same_holds_on_postgresql(postgres_server: PostgresServer) -> None:
    class PostgresMachine(JobMachine):
        make_house = partial(PostgresJobHouse, postgres_server)

    run_machine(PostgresMachine, 15)
