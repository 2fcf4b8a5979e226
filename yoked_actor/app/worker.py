"""A worker: a second process that only runs jobs, on the database of a server.

It takes no lock on the data directory. Leases and fences keep it and the server from running the
same job; SQLite keeps their writes apart.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio

from yoked_actor.actors.clock import CHECK_EVERY_S, Clock
from yoked_actor.actors.jobs import (
    Dispatcher,
    OtherDispatchers,
    listen_for_wakeups,
    register_upkeep,
)
from yoked_actor.actors.offers import GiveWay, OfferJobs
from yoked_actor.actors.ops import Alarm
from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.app.extensions import register_extensions
from yoked_actor.app.worker_report import Reporter
from yoked_actor.settings import Settings
from yoked_actor.store import InlineRunner, ThreadRunner, open_store
from yoked_actor.telemetry import Metrics

# The server holds the write lock for a whole batch, so a worker waits longer for it.
_PATIENCE_S = 10.0
_CLAIMS_AT_MOST = 128
"""A claim of the worker process keeps its server from writing: it takes 15 us for each job."""


@asynccontextmanager
async def open_worker(
    settings: Settings,
    database: Path,
    reporter: Reporter | None = None,
    *,
    clock: Clock | None = None,
    name: str | None = None,
    threads: bool = True,
) -> AsyncIterator[Dispatcher]:
    """Run jobs until the block is left, then let them end or give them back.

    The worker process of a server has a `reporter`: the server counts its runs and raises alerts.
    A simulation runs a worker beside a server in one process: it gives a `clock`, a `name` in place
    of the process id, and no threads.
    """
    clock = Clock.real(settings.server.clock_step_s) if clock is None else clock
    async with open_store(
        database,
        runner=ThreadRunner() if threads else InlineRunner(),
        busy_timeout_s=max(settings.store.busy_timeout_s, _PATIENCE_S),
        checkpoint_pages=settings.store.checkpoint_pages,
        reserve=threads,
        max_pending=settings.store.max_pending,
        max_batch=settings.store.max_batch,
        shared=True,
        machine=clock.machine_time,
        url=settings.store.url.get_secret_value(),
        connect_timeout_s=settings.store.connect_timeout_s,
    ) as store:
        directory = database.parent
        metrics = Metrics()
        metrics.objectives.use(settings.objectives)
        dispatcher = Dispatcher(
            store.jobs,
            clock,
            settings,
            metrics,
            owner=None if name is None else f"process {name}",
            threads=threads,
            wake_others=OtherDispatchers(directory, name).wake
            if store.bell is None
            else store.bell.ring_soon,
            ended=None if reporter is None else reporter.add_runs,
            claims_at_most=None if reporter is None else _CLAIMS_AT_MOST,
            # It has no connections: nobody waits for its event loop, and a spin may have to wait
            # for its transaction.
            gives_way=None if reporter is None else GiveWay(store.offers.no_transaction).wait,
        )
        register_upkeep(dispatcher, store.jobs, clock, settings.jobs)
        # The server knows who is connected: a worker wakes it after each commit, or reports whose
        # sets it has stored, and the server delivers.
        OfferJobs(
            *(store.offers, store.jobs, clock, settings, metrics),
            threads=threads,
            ended=None if reporter is None else reporter.add_set,
        ).register(dispatcher)
        register_extensions(dispatcher)
        # Its alerts concern its own jobs and go to its log; the server stores and sends alerts.
        alarm = Alarm(dispatcher.watch, clock, settings, metrics, is_restless=threads)
        supervisor = Supervisor(clock, settings.supervisor, metrics, failed=alarm.wake)
        async with trio.open_nursery() as nursery:
            run_side = supervisor.run_side
            check_every_s = CHECK_EVERY_S if threads else math.inf
            watch_clock = partial(clock.watch, metrics.clock.count, check_every_s)
            nursery.start_soon(run_side, "clock", watch_clock)
            if reporter is None:
                nursery.start_soon(run_side, "alarm", alarm.run)
            else:
                reporter.greet(dispatcher.owner)
                nursery.start_soon(run_side, "reporter", reporter.run)
            nursery.start_soon(run_side, "dispatcher", dispatcher.run)
            wake = partial(dispatcher.wake, from_other_process=True)
            listen = partial(listen_for_wakeups, directory, wake, name)
            if store.bell is not None:
                listen = partial(store.bell.listen, wake)
            nursery.start_soon(run_side, "job_bell", listen)
            yield dispatcher
            await dispatcher.drain()
            if reporter is not None:
                reporter.flush()
            nursery.cancel_scope.cancel()
