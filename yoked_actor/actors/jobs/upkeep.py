"""The daily job that deletes ended jobs and old keys (R36).

It enqueues the job of the next day in the transaction that completes it, so there is always one;
its key is the date, so several processes make only one.
"""

from __future__ import annotations

from pydantic import BaseModel

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs.dispatcher import Dispatcher
from yoked_actor.actors.jobs.job_types import JobRun
from yoked_actor.domain.jobs import NewJob
from yoked_actor.domain.time import MICROSECONDS, Instant, after, utc_date
from yoked_actor.settings import JobSettings
from yoked_actor.store import Jobs, Tx, enqueue_in

PRUNE = "jobs.prune"
_DAY_S = 86_400
_AT_ONCE = 1_000


class Prune(BaseModel):
    """The day, in UTC."""

    date: str


def prune_job(at: Instant) -> NewJob:
    """The job of the day of an instant."""
    date = utc_date(at).isoformat()
    return NewJob(PRUNE, {"date": date}, at, key=date, priority=10)


def register_upkeep(
    dispatcher: Dispatcher, jobs: Jobs, clock: Clock, settings: JobSettings
) -> None:
    """Register the handler with a dispatcher."""

    async def handler(run: JobRun[Prune]) -> None:
        now = clock.now()
        line = after(now, -settings.keep_finished_days * _DAY_S)
        # In small transactions, so that other writes do not wait.
        while await jobs.prune(line, _AT_ONCE) == _AT_ONCE:
            pass
        line = after(now, -settings.keep_dead_days * _DAY_S)
        while await jobs.prune(line, _AT_ONCE, dead=True) == _AT_ONCE:
            pass
        line = after(now, -settings.keep_keys_days * _DAY_S)
        while await jobs.prune_keys(line, _AT_ONCE) == _AT_ONCE:
            pass
        day = _DAY_S * MICROSECONDS
        tomorrow = prune_job((now // day + 1) * day)

        def effect(tx: Tx) -> None:
            enqueue_in(tx, [tomorrow], now)

        run.effect = effect

    dispatcher.register(PRUNE, Prune, handler)
