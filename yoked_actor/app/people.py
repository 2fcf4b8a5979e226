"""Opens erasure and suspension of users."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from yoked_actor.actors.people import Care, register_care
from yoked_actor.app.base import Base
from yoked_actor.app.lobby import Live


@asynccontextmanager
async def open_people(base: Base, live: Live) -> AsyncIterator[Care]:
    """Run it until the block is left. Suspended users are removed before the block is entered."""
    care = Care(live.sessions, base.store, base.clock, base.settings.store)
    register_care(base.dispatcher, care, base.store, base.clock, base.settings.privacy)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(base.supervisor.run_side, "suspensions", care.run)
        # A user may have been suspended while no server ran.
        await care.open()
        yield care
        nursery.cancel_scope.cancel()
