"""What one user asks of the matchmaker: events into its mailbox, and waiting for replies."""

from __future__ import annotations

import trio

from yoked_actor.actors.lobby.messages import Message, Then
from yoked_actor.actors.lobby.session_context import SessionContext
from yoked_actor.actors.lobby.session_output import SessionOutput
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import notices
from yoked_actor.domain.ops import Objective
from yoked_actor.domain.time import Instant

_MEASURED = frozenset({ev.Spin, ev.Vote})


class SessionEvents(SessionOutput):
    """The part of a session that puts events into the mailbox."""

    __slots__ = ("in_flight",)

    def __init__(self, user_id: str, context: SessionContext) -> None:
        super().__init__(user_id, context)
        self.in_flight = 0
        """How many of the user's messages the matchmaker has yet to decide."""

    def post(self, event: ev.Event, then: Then | None = None) -> None:
        """Put an event into the matchmaker's mailbox, or raise `MailboxFull`. Does not block.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        """
        posted_s = trio.current_time() if type(event) in _MEASURED else -1.0
        self._post(Message(event, self, then, posted_s))

    def _post(self, message: Message) -> None:
        try:
            self._context.mailbox.put_nowait(message)
        except MailboxFull:
            if type(message.event) is ev.Spin:
                self._context.metrics.objectives.count(Objective.SPINS, 0, 1, message.posted_s)
            raise
        self.in_flight += 1

    async def ask(self, event: ev.Event, then: Then | None = None) -> notices.Reply:
        """Put an event into the matchmaker's mailbox, and wait for the reply.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        Raises `MailboxFull` when there is no room; nothing has been put then.

        Checkpoints once, after the event has been put. If cancelled there, only the caller stops
        waiting: the event is decided all the same, and `then` is called.
        """
        replied = trio.Event()
        replies: list[notices.Reply] = []

        def receive(reply: notices.Reply, now: Instant) -> None:
            if then is not None:
                then(reply, now)
            replies.append(reply)
            replied.set()

        self.post(event, receive)
        await replied.wait()
        return replies[0]

    async def wait_for_room(self) -> None:
        """Wait until `post` and `ask` have room; the caller has it until its next checkpoint.

        Checkpoints only if the mailbox is full. Cancellation changes nothing.
        """
        # Counted as in flight: the user must not leave memory meanwhile.
        self.in_flight += 1
        try:
            await self._context.mailbox.wait_for_room()
        finally:
            self.in_flight -= 1

    def _put(self, id: str, event: ev.Event, now_s: float) -> None:
        """Put the event of a command into the mailbox; the reply is sent when it is decided."""
        posted_s = now_s if type(event) in _MEASURED else -1.0
        try:
            self._post(Message(event, self, None, posted_s, id, self.session_id))
        except MailboxFull:
            self._refuse(id, notices.Code.INTERNAL, "the server is overloaded; try again")
        else:
            self._pending.setdefault(id, 1)
