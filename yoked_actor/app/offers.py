"""Opens the daily offers: the calendar, the jobs of a morning, the delivery to connected users."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import trio

from yoked_actor.actors.offers import Calendar, ConnectionNews, OfferDelivery, OfferJobs
from yoked_actor.app.base import Base
from yoked_actor.app.lobby import Live
from yoked_actor.app.worker_process import WorkerProcess, wants_worker
from yoked_actor.store import enqueue_in


@asynccontextmanager
async def open_calendar(base: Base) -> AsyncIterator[Calendar]:
    """Start the daily run of each zone until the block is left."""
    calendar = Calendar(
        base.store.calendar,
        base.clock,
        base.settings,
        enqueue_in,
        at=base.settings.offers.time_of_day(),
        metrics=base.metrics.calendar,
        then=lambda turn: base.dispatcher.wake(),
    )
    async with trio.open_nursery() as nursery:
        nursery.start_soon(base.supervisor.run_side, "calendar", calendar.run)
        yield calendar
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_delivery(
    base: Base,
    live: Live,
    *,
    worker_command: Sequence[str] | None = None,
    stop: trio.Event,
) -> AsyncIterator[OfferDelivery]:
    """Make offers in jobs, and deliver them to connected users, until the block is left.

    With a `worker_command`, a worker process makes them if the settings say so.
    """
    store, clock, settings, metrics = base.store, base.clock, base.settings, base.metrics
    delivery = OfferDelivery(
        store, live.sessions, clock, settings, metrics, live.opened, live.places
    )
    offer_jobs = OfferJobs(
        store.offers,
        store.jobs,
        clock,
        settings,
        metrics,
        threads=base.threads,
        stored=delivery.wake,
    )
    offer_jobs.register(base.dispatcher)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(base.supervisor.run_side, "desk", delivery.run)
        if store.bell is not None and settings.node.is_set:
            news = ConnectionNews(live.sessions, store, settings.store, live.opened)
            store.bell.on_news("connections", news.read_soon)
            live.opened.tell_nodes = partial(store.bell.tell_soon, "connections")
            nursery.start_soon(base.supervisor.run_side, "connections", news.run)
        if worker_command is not None and wants_worker(settings.jobs):
            worker = WorkerProcess(worker_command, base, offer_jobs, stop)
            base.on_reload.append(worker.reload)
            nursery.start_soon(base.supervisor.run_side, "worker", worker.run)
        yield delivery
        nursery.cancel_scope.cancel()
