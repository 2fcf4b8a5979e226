"""Removes a user from line, match and date, and closes their connection."""

from __future__ import annotations

from yoked_actor.actors.lobby import Sessions, notice_of
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import replies
from yoked_actor.domain.time import Instant
from yoked_actor.wire.close_codes import CloseCode


async def remove_user(sessions: Sessions, event: ev.Erase | ev.Expel, reason: str) -> None:
    """Have the matchmaker remove a user, and close their connection when that is stored.

    Checkpoints. If cancelled, the user may still be removed.
    """
    session, suspensions = await sessions.enter(event.user_id), sessions.suspensions

    def leave(reply: replies.Reply, now: Instant) -> None:
        suspension = suspensions.of(session.user_id)
        if isinstance(event, ev.Erase):
            suspensions.drop(session.user_id)
        elif suspension is not None and session.connection is not None:
            session.tell(notice_of(suspension), now)
        session.reset()
        session.close_connection(CloseCode.UNAUTHORIZED, reason)

    await session.wait_for_room()
    await session.ask(event, leave)
