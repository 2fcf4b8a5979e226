"""A matchmaker that cannot store anything, with a mailbox that has no room."""

from __future__ import annotations

from contextlib import suppress

import trio

from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.lobby import events as ev
from yoked_actor.testing import World

SMALL_MAILBOX: dict[str, dict[str, object]] = {
    "matchmaker": {"mailbox": 20},
    "store": {"busy_timeout_s": 0.0},
}


async def fill_mailbox(world: World, user_id: str) -> None:
    """Have the matchmaker wait for a database that is locked, and no room in its mailbox."""
    session = await world.server.live.sessions.enter(user_id)
    session.post(ev.Block(user_id, "mallory"))
    await trio.sleep(0.1)
    with suppress(MailboxFull):
        while True:
            session.post(ev.SignOfLife(user_id))
