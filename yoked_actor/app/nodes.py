"""Opens the node: this server as one of several over one database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import structlog
import trio

from yoked_actor.actors.nodes import Directory, Keeper, NodeRooms
from yoked_actor.app.base import Base
from yoked_actor.app.lobby import Live
from yoked_actor.domain.lobby import MAIN

_log = structlog.get_logger()


@asynccontextmanager
async def open_nodes(base: Base, live: Live) -> AsyncIterator[Directory | None]:
    """Register this server, and keep the leases of its rooms until the block is left.

    Yields what is known of the nodes; None if this is the only server (`node.id` is not set).
    """
    settings, store = base.settings, base.store
    if not settings.node.is_set:
        yield None
        return
    registry, sessions = live.rooms, live.sessions
    directory = Directory(settings.node.id, settings.node.lease_s)

    async def look() -> None:
        nodes, leases = await store.nodes.nodes(), await store.nodes.leases()
        directory.update(nodes, leases, trio.current_time())

    def wanted() -> Iterable[str]:
        if sessions.context.draining:
            return registry.owned()
        now = base.clock.now()
        declared = registry.catalogue.rooms.values()
        is_open = {one.room for one in declared if one.hours.is_open(now)}
        # A room that has closed is served until its matches and dates are over.
        return is_open | {MAIN} | registry.owned()

    rooms = NodeRooms(
        registry, sessions, store, settings.server, directory, base.metrics, look=look
    )
    keeper = Keeper(
        store.nodes,
        rooms,
        settings.node,
        base.metrics,
        directory=directory,
        boot=store.boot,
        rooms=wanted,
    )
    registry.elsewhere, registry.lost = rooms.elsewhere, keeper.lost
    registry.counted, registry.recount = directory.here, look
    registry.tell_count = keeper.wake
    sessions.context.served = rooms.served
    base.on_reload.append(keeper.wake)
    if store.bell is not None:
        store.bell.name = settings.node.id
        store.bell.on_news("leases", keeper.wake)
    await keeper.register()
    _log.info("node_registered", node=settings.node.id, url=settings.node.url, boot=store.boot)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(base.supervisor.run_core, "keeper", keeper.run)
        yield directory
        nursery.cancel_scope.cancel()
    rooms.stop_all()
    with trio.CancelScope(shield=True):
        await keeper.stop()
