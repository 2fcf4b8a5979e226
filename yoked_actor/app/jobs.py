"""Opens the job queue: runs the dispatcher, and wakes it for jobs of other processes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx
import trio

from yoked_actor.actors.jobs import listen_for_wakeups, prune_job, register_upkeep
from yoked_actor.actors.offers import OfferDelivery
from yoked_actor.actors.people import prune_store_job
from yoked_actor.app.base import Base
from yoked_actor.app.extensions import register_extensions
from yoked_actor.edge.outgoing import Webhook


@asynccontextmanager
async def open_jobs(
    base: Base,
    delivery: OfferDelivery,
    *,
    webhook_transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[None]:
    """Run jobs until the block is left; then let those that run end, or give them back.

    Open it after the features whose jobs it runs, so that it drains before they close.
    """
    dispatcher, store, clock = base.dispatcher, base.store, base.clock
    register_upkeep(dispatcher, store.jobs, clock, base.settings.jobs)
    Webhook(base.settings.alerts, store.jobs, clock, webhook_transport).register(dispatcher)
    register_extensions(dispatcher)

    def wake() -> None:
        # Another process may have enqueued or cancelled a job, or stored a set of offers.
        dispatcher.wake(from_other_process=True)
        delivery.wake()
        for woken in base.on_wakeup:
            woken()

    async def enqueue_upkeep() -> None:
        now = clock.now()
        await dispatcher.enqueue([prune_job(now), prune_store_job(now)])

    run_side = base.supervisor.run_side
    async with trio.open_nursery() as nursery:
        await nursery.start(run_side, "upkeep", enqueue_upkeep)
        nursery.start_soon(run_side, "dispatcher", dispatcher.run)
        if store.bell is not None:
            nursery.start_soon(run_side, "job_bell", partial(store.bell.listen, wake))
        elif base.directory is not None:
            nursery.start_soon(
                run_side, "job_bell", partial(listen_for_wakeups, base.directory, wake)
            )
        yield
        await dispatcher.drain()
        nursery.cancel_scope.cancel()
