"""A test kit: the whole server in memory, on a mock clock, reproducible by a seed.

    async def test_two_meet(autojump_clock):
        async with open_world(seed=7) as world:
            ana = await world.join("ana", gender="woman", seeking=["man"])
            ben = await world.join("ben", gender="man", seeking=["woman"])
            await ana.spin()
            await ben.spin()
            assert (await ana.wait_for("matched")).partner["user_id"] == "ben"

Nothing is faked but the clock: WebSocket frames go through memory streams, SQL runs in SQLite, and
an hour of trio's mock clock takes milliseconds.
"""

from __future__ import annotations

from yoked_actor.testing.determinism import run, schedule_by_seed
from yoked_actor.testing.profiles import make_profile
from yoked_actor.testing.world import World, open_world

__all__ = ["World", "make_profile", "open_world", "run", "schedule_by_seed"]
