"""Opens erasure and suspension of users, and warnings to them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import msgspec
import trio

from yoked_actor.actors.people import (
    Eraser,
    SuspensionEnforcer,
    WarningDelivery,
    register_people_jobs,
)
from yoked_actor.app.base import Base
from yoked_actor.app.lobby import Live


class People(msgspec.Struct, frozen=True):
    """What removes users, and what warns them."""

    eraser: Eraser
    enforcer: SuspensionEnforcer
    warnings: WarningDelivery


@asynccontextmanager
async def open_people(base: Base, live: Live) -> AsyncIterator[People]:
    """Run until the block is left. Suspended users are removed before the block is entered."""
    privacy, forget = base.settings.privacy, live.rooms.forget_erased
    eraser = Eraser(live.sessions, base.store, base.clock, privacy, forget)
    enforcer = SuspensionEnforcer(live.sessions, base.store, base.clock, base.settings.store)
    warnings = WarningDelivery(live.sessions, base.store, base.clock, base.settings.store)
    bell = base.store.bell
    if bell is not None and base.settings.node.is_set:
        bell.on_news("suspensions", enforcer.refresh_soon)
        bell.on_news("warnings", warnings.read_soon)
        enforcer.tell_nodes = partial(bell.tell_soon, "suspensions")
        warnings.tell_nodes = partial(bell.tell_soon, "warnings")
    register_people_jobs(base.dispatcher, eraser, enforcer, base.store, base.clock, privacy)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(base.supervisor.run_side, "suspensions", enforcer.run)
        nursery.start_soon(base.supervisor.run_side, "warnings", warnings.run)
        # A user may have been suspended while no server ran.
        await enforcer.open()
        yield People(eraser, enforcer, warnings)
        nursery.cancel_scope.cancel()
