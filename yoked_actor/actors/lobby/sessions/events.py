"""What one user asks of the matchmaker: events into its mailbox, and waiting for replies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

import trio

from yoked_actor.actors.lobby.messages import Message, Then
from yoked_actor.actors.lobby.moved import RoomMoved
from yoked_actor.actors.lobby.room_link import RoomLink
from yoked_actor.actors.lobby.sessions.context import SessionContext
from yoked_actor.actors.lobby.sessions.output import SessionOutput
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import replies
from yoked_actor.domain.ops import Objective
from yoked_actor.domain.time import Instant

_MEASURED: Final = frozenset({ev.Spin, ev.Vote})


class SessionEvents(SessionOutput):
    """The part of a session that puts events into the mailbox."""

    __slots__ = ("_held", "in_flight")

    def __init__(self, user_id: str, context: SessionContext, link: RoomLink) -> None:
        super().__init__(user_id, context, link)
        self._held: list[Message] | None = None
        """The messages of a user who is on the way to another room; else None."""
        self.in_flight = 0
        """How many of the user's messages the matchmaker has yet to decide."""

    def post(self, event: ev.Event, then: Then | None = None) -> None:
        """Put an event into the matchmaker's mailbox, or raise `MailboxFull`. Does not block.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        """
        posted_s = trio.current_time() if type(event) in _MEASURED else -1.0
        self._post(Message(event, self, then, posted_s))

    def _post(self, message: Message) -> None:
        if self._held is not None:
            self._held.append(message)
            self.in_flight += 1
            return
        if self.link.is_gone:
            raise RoomMoved(self.link.room, None)
        try:
            self.link.mailbox.put_nowait(message)
        except MailboxFull:
            if type(message.event) is ev.Spin:
                self._context.metrics.objectives.count(Objective.SPINS, 0, 1, message.posted_s)
            raise
        self.in_flight += 1

    async def ask(self, event: ev.Event, then: Then | None = None) -> replies.Reply:
        """Put an event into the matchmaker's mailbox, and wait for the reply.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        Raises `MailboxFull` when there is no room, and `RoomMoved` when another node has the
        user's room; nothing has been put then.

        Checkpoints once, after the event has been put. If cancelled there, only the caller stops
        waiting: the event is decided all the same, and `then` is called.
        """
        replied = trio.Event()
        received: list[replies.Reply] = []

        def receive(reply: replies.Reply, now: Instant) -> None:
            if then is not None:
                then(reply, now)
            received.append(reply)
            replied.set()

        self.post(event, receive)
        await replied.wait()
        return received[0]

    @property
    def is_moving(self) -> bool:
        """Whether the user is on the way to another room."""
        return self._held is not None

    def move(self, target: RoomLink, then: Then) -> None:
        """Leave the lobby of the present room for that of another. Does not block.

        The lobby lets an idle user go. What it knows of them goes into the other mailbox at once,
        and messages that come meanwhile follow. `then` is called with the reply of either lobby.
        """
        assert self._held is None
        self._held = []
        self.in_flight += 1
        target.members += 1
        self.link.mailbox.put_always(
            Message(
                ev.Depart(self.user_id), None, lambda reply, now: self._go(target, reply, then, now)
            )
        )

    async def leave_for(self, write: Callable[[], Awaitable[None]]) -> replies.Reply:
        """Leave the lobby for a room of another node: `write` stores in which room the user is.

        The lobby lets an idle user go; otherwise the reply is a refusal, and nothing changes.
        Messages that come meanwhile are held, and dropped when the user has left.
        """
        assert self._held is None
        self._held = []
        departed = trio.Event()
        received: list[replies.Reply] = []

        def depart(reply: replies.Reply, now: Instant) -> None:
            received.append(reply)
            departed.set()

        self.link.mailbox.put_always(Message(ev.Depart(self.user_id), None, depart))
        await departed.wait()
        if isinstance(received[0], replies.Departed):
            await write()
            return replies.Done()
        held, self._held = self._held, None
        for message in held:
            self.link.mailbox.put_always(message)
        return received[0]

    def _go(self, target: RoomLink, reply: replies.Reply, then: Then, now: Instant) -> None:
        held, self._held = self._held or [], None
        self.in_flight -= 1
        if isinstance(reply, replies.Departed):
            self.link.members -= 1
            self.link = target
            self._follow(Message(ev.Entered(self.user_id, reply.known), self, then))
            if reply.presence.called:
                self._follow(Message(ev.Called(self.user_id), self))
            if reply.presence.device:
                self._follow(Message(ev.Attached(self.user_id, reply.presence.device), self))
        else:
            target.members -= 1
            then(reply, now)
        for message in held:
            self.link.mailbox.put_always(message)

    def _follow(self, message: Message) -> None:
        self.in_flight += 1
        self.link.mailbox.put_always(message)

    async def wait_for_room(self) -> None:
        """Wait until `post` and `ask` have room; the caller has it until its next checkpoint.

        Checkpoints only if the mailbox is full. Cancellation changes nothing.
        """
        # Counted as in flight: the user must not leave memory meanwhile.
        self.in_flight += 1
        try:
            await self.link.mailbox.wait_for_room()
        finally:
            self.in_flight -= 1

    def _put(self, id: str, event: ev.Event, now_s: float) -> None:
        """Put the event of a command into the mailbox; the reply is sent when it is decided."""
        posted_s = now_s if type(event) in _MEASURED else -1.0
        try:
            self._post(Message(event, self, None, posted_s, id, self.session_id))
        except RoomMoved:
            # The client is about to be sent away, and sends the command again.
            return
        except MailboxFull:
            self._refuse(id, replies.Code.INTERNAL, "the server is overloaded; try again")
        else:
            self._pending.setdefault(id, 1)
