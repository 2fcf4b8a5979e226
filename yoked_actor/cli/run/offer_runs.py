"""The work of `yoked-actor offers` on the store: running, previewing and verifying."""

from __future__ import annotations

import sys
from datetime import date
from functools import partial

import click
import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher, listen_for_wakeups, wake_other_processes
from yoked_actor.actors.offers import (
    Calendar,
    NoRun,
    NoSuchRun,
    OfferJobs,
    RequestedRun,
    Verdict,
    verify_run,
)
from yoked_actor.domain.offers import OfferSet, RunProgress, make_run
from yoked_actor.domain.time import next_run, run_instant, zone_named
from yoked_actor.settings import Settings
from yoked_actor.store import Store, StoreUnavailable, enqueue_in
from yoked_actor.telemetry import Metrics

_POLL_EVERY_S = 0.25


async def start_run(
    store: Store, settings: Settings, zone: str, day: date
) -> tuple[RequestedRun, RunProgress | None]:
    """Start a run and work on it until it is done; the progress is None if it had been started."""
    clock, metrics = Clock.real(settings.server.clock_step_s), Metrics()
    calendar = Calendar(
        store.calendar,
        clock,
        settings,
        enqueue_in,
        at=settings.offers.time_of_day(),
        metrics=metrics.calendar,
    )
    started = await calendar.start_run(zone, day)
    if not started.is_new:
        return started, None
    directory = settings.server.data_dir
    dispatcher = Dispatcher(
        store.jobs, clock, settings, metrics, wake_others=lambda: wake_other_processes(directory)
    )
    OfferJobs(store.offers, store.jobs, clock, settings, metrics).register(dispatcher)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(clock.watch, metrics.clock.count)
        nursery.start_soon(dispatcher.run)
        nursery.start_soon(
            listen_for_wakeups, directory, partial(dispatcher.wake, from_other_process=True)
        )
        progress = await _watch(store, zone, day)
        await dispatcher.drain()
        nursery.cancel_scope.cancel()
    return started, progress


async def _watch(store: Store, zone: str, day: date) -> RunProgress:
    """Show the progress of a run until it has ended."""
    with click.progressbar(length=1, label=f"{zone} {day}", file=sys.stderr) as bar:
        while True:
            try:
                progress = await store.offers.progress(zone, day)
            except StoreUnavailable:
                progress = None
            if progress is not None:
                if progress.users is not None:
                    bar.length = max(progress.users, 1)
                    bar.update(progress.stored - bar.pos)
                if not progress.waiting and (progress.is_done or progress.dead):
                    bar.update(bar.length - bar.pos if bar.length else 0)
                    return progress
            await trio.sleep(_POLL_EVERY_S)


async def preview_run(
    store: Store, settings: Settings, name: str, day: date
) -> dict[str, OfferSet]:
    """Compute the offers of a run from the current profiles, without storing them."""
    at = settings.offers.time_of_day()
    zone = zone_named(name)
    instant = None if zone is None else run_instant(zone, day, at)
    if zone is None or instant is None:
        raise NoSuchRun(f"there is no zone {name}, or it has no {day}")
    frozen = await store.offers.preview_pool(
        name,
        day,
        instant,
        next_run(zone, instant, at)[1],
        settings.offers.rules(settings.matching),
        settings.matching.rematch_after_days,
    )
    assert frozen.pool is not None
    pool = frozen.pool
    receivers = sum(person.receives for person in pool.people)
    with click.progressbar(length=receivers, label=f"{name} {day}", file=sys.stderr) as bar:

        def show(done: int, of: int) -> None:
            if done % 100 == 0 or done == of:
                bar.update(done - bar.pos)

        return make_run(pool, frozen.rules, show)


async def verify_runs(store: Store, zone: str | None, day: date | None) -> list[Verdict]:
    """Verify stored runs: all, or those of a zone or date."""
    runs = await store.offers.run_days(zone, day)
    if not runs:
        raise NoRun("there is no such run")
    verdicts = []
    with click.progressbar(length=len(runs), label="verifying", file=sys.stderr) as bar:
        for name, run_day in runs:
            verdicts.append(await verify_run(store.offers, name, run_day))
            bar.update(1)
    return verdicts
