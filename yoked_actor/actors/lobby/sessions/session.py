"""A session: receives the commands of one user.

`events` puts their events into the matchmaker's mailbox. The matchmaker decides;
`output` sends its replies and notices. A user has one connection at a time. Nothing here
waits for a client: a connection closes when its client does not read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

import trio

from yoked_actor.actors.lobby.messages import Message
from yoked_actor.actors.lobby.moved import RoomMoved
from yoked_actor.actors.lobby.room_link import RoomLink
from yoked_actor.actors.lobby.sessions.context import (
    DECIDED_BY_LOBBY,
    Connection,
    SessionContext,
    event_of,
)
from yoked_actor.actors.lobby.sessions.events import SessionEvents
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import replies
from yoked_actor.domain.people import Report, is_user_id
from yoked_actor.domain.time import Instant, TokenBucket, to_datetime
from yoked_actor.store import StoreUnavailable, TooManyReports
from yoked_actor.wire.close_codes import CloseCode
from yoked_actor.wire.lobby import Error, OkAt, encode, problem_with
from yoked_actor.wire.lobby import commands as cmd

Renew = Callable[[cmd.Hello], Awaitable[replies.Reply]]
Awaited = Coroutine[Any, Any, None]
"""The part of handling a message that has to be awaited."""
# A constant is read faster than a name of a module.
_SIGNAL: Final = cmd.Signal
_decode_command: Final = cmd.decode_command
_STORE_AWAY: Final = replies.Refusal(replies.Code.INTERNAL, "the store is not available; try again")


class Session(SessionEvents):
    """A user in memory."""

    __slots__ = ("_bucket", "_signals", "leaving", "loading", "spoke_s")

    def __init__(self, user_id: str, context: SessionContext, link: RoomLink) -> None:
        super().__init__(user_id, context, link)
        edge, now_s = context.settings.edge, trio.current_time()
        self.leaving = False
        """Whether `Sessions` will check if the user can leave memory."""
        self.loading: trio.Event | None = None
        """Set when the user is in memory; None from then on."""
        self.spoke_s = now_s
        """When a command or call was last received, on trio's clock."""
        self._bucket = TokenBucket(edge.commands_per_s, edge.commands_burst, now_s)
        self._signals: TokenBucket | None = None

    # Commands

    def may_speak(self, now_s: float | None = None) -> bool:
        """Whether the user is within the rate limit; if so, count this command or call.

        `now_s` is the present on trio's clock, if the caller has read it.
        """
        self.spoke_s = trio.current_time() if now_s is None else now_s
        return self._bucket.take(self.spoke_s)

    def called(self) -> None:
        """Note an HTTP call of the user as a sign of life (R14). It was counted before."""
        self._note_alive(self.spoke_s)

    def beat(self, now_s: float) -> None:
        """Note a sign of life that needs no reply."""
        if self.may_speak(now_s):
            self._note_alive(now_s)

    def catch_up(self) -> None:
        """Read what is in the user's socket, because the user is lost without a sign of life.

        Nothing is read while a message is being handled, so that is not silence.
        """
        if self.connection is not None:
            if self.connection.busy:
                self._note_alive(trio.current_time())
            else:
                self.connection.catch_up()

    def receive(self, text: bytes, now_s: float, renew: Renew) -> Awaited | None:
        """Handle one message; returns what has to be awaited for that, if anything.

        Raises `NotAnObject` when the protocol is broken. `renew` checks the token of a hello on an
        open socket.
        """
        awaited = None
        try:
            command = _decode_command(text)
        except cmd.BadCommand as bad:
            if self.may_speak(now_s):
                self._note_alive(now_s)
            if bad.id is None:
                error = Error(re=None, code=replies.Code.BAD_REQUEST, message=bad.message)
                self._send(encode(error))
            elif not self._resend(bad.id):
                self._refuse(bad.id, replies.Code.BAD_REQUEST, bad.message)
        else:
            awaited = self._handle(command, now_s, renew)
        if self.unsent:
            self._flush()
        return None if awaited is None else self._finish(awaited)

    async def _finish(self, awaited: Awaited) -> None:
        await awaited
        if self.unsent:
            self._flush()

    def _flush(self) -> None:
        self.unsent = False
        if self.connection is not None:
            self.connection.flush()

    def _handle(self, command: cmd.Command, now_s: float, renew: Renew) -> Awaited | None:
        id, within_rate = command.id, self.may_speak(now_s)
        if self._resend(id):
            # A repeated command has no second effect, but it is a sign of life (R14).
            if within_rate:
                self._note_alive(now_s)
            return None
        context = self._context
        if not within_rate:
            self._refuse(id, replies.Code.RATE_LIMITED, "too many commands; slow down")
        elif len(self._pending) >= context.max_pending_commands:
            self._refuse(id, replies.Code.RATE_LIMITED, "too many commands await their reply")
        elif type(command) not in DECIDED_BY_LOBBY:
            return self._handle_here(command, now_s, renew)
        elif context.draining and type(command) is cmd.Spin:
            self._refuse(id, replies.Code.DRAINING, "the server is about to stop; come back soon")
        elif type(command) is _SIGNAL and (refusal := self._refusal_of(command, now_s)):
            self._note_alive(now_s)
            self._refuse(id, refusal.code, refusal.message)
        else:
            self._put(id, event_of(self.user_id, command), now_s)
        return None

    def _handle_here(self, command: cmd.Command, now_s: float, renew: Renew) -> Awaited | None:
        """Handle a command that the matchmaker does not decide, or not at first."""
        self._note_alive(now_s)
        id, now = command.id, self._context.clock.at(now_s)
        if type(command) is cmd.Heartbeat:
            self._reply(id, OkAt(id, to_datetime(now)))
        elif isinstance(command, cmd.Report):
            return self._report(command, now)
        elif isinstance(command, cmd.AnswerOffer | cmd.StayInTouch):
            return self._answer(command)
        elif isinstance(command, cmd.StartDate):
            return self._start_date(command, now_s)
        elif isinstance(command, cmd.EnterRoom):
            return self._enter_room(command)
        elif isinstance(command, cmd.Hello):
            return self._renew(command, renew)
        else:
            self._refuse(id, replies.Code.WRONG_STATE, "hello was said already")
        return None

    def _refusal_of(self, command: cmd.Signal, now_s: float) -> replies.Refusal | None:
        """Why a signal is refused, if it is; the lobby checks its date."""
        limits = self._context.settings.date
        if len(command.data) > limits.max_signal_bytes:
            message = f"data is larger than {limits.max_signal_bytes} bytes"
            return replies.Refusal(replies.Code.TOO_LARGE, message)
        problem = problem_with(command.data)
        if problem is not None:
            return replies.Refusal(replies.Code.BAD_REQUEST, problem)
        if self._signals is None:
            self._signals = TokenBucket(limits.signals_per_s, limits.signals_burst, now_s)
        if not self._signals.take(now_s):
            return replies.Refusal(replies.Code.RATE_LIMITED, "too many signals; slow down")
        return None

    def _note_alive(self, now_s: float) -> None:
        self.link.signs_of_life[self.user_id] = now_s

    async def _renew(self, command: cmd.Hello, renew: Renew) -> None:
        self._pending[command.id], session_id = 1, self.session_id
        self.answered(session_id, command.id, await renew(command))

    async def _report(self, command: cmd.Report, now: Instant) -> None:
        if not is_user_id(command.user_id):
            message = "user_id is not the id of a user"
            self._refuse(command.id, replies.Code.BAD_REQUEST, message)
            return
        self._pending[command.id] = 1
        report = Report(self.user_id, command.user_id, command.reason, command.match_id, now)
        session_id = self.session_id
        try:
            await self._context.store.add_report(report, self._context.report_limits())
        except TooManyReports as error:
            reply: replies.Reply = replies.Refusal(replies.Code.RATE_LIMITED, str(error))
        except StoreUnavailable:
            reply = replies.Refusal(replies.Code.INTERNAL, "it could not be stored")
        else:
            reply = replies.Done()
        self.answered(session_id, command.id, reply)

    async def _answer(self, command: cmd.AnswerOffer | cmd.StayInTouch) -> None:
        """Store an answer to an offer, or to the question after a date."""
        id, session_id, context = command.id, self.session_id, self._context
        self._pending[id] = 1
        me, answer = self.user_id, command.answer
        try:
            if isinstance(command, cmd.AnswerOffer):
                reply = await context.offers.answer(me, command.offer_id, answer)
            else:
                reply = await context.contacts.stay_in_touch(me, command.date_id, answer)
        except StoreUnavailable:
            reply = _STORE_AWAY
        self.answered(session_id, id, reply)

    async def _enter_room(self, command: cmd.EnterRoom) -> None:
        id, session_id, rooms = command.id, self.session_id, self._context.rooms
        if self._context.draining:
            self._refuse(id, replies.Code.DRAINING, "the server is about to stop; come back soon")
            return
        self._pending[id] = 1
        try:
            assert rooms is not None
            reply = await rooms.enter(self.user_id, command.room, command.code)
        except RoomMoved:
            # The client was told where to go.
            return
        except StoreUnavailable:
            reply = _STORE_AWAY
        self.answered(session_id, id, reply)

    async def _start_date(self, command: cmd.StartDate, now_s: float) -> None:
        id, session_id = command.id, self.session_id
        if self._context.draining:
            self._refuse(id, replies.Code.DRAINING, "the server is about to stop; come back soon")
            return
        self._pending[id] = 1
        try:
            partner = await self._context.offers.partner(self.user_id, command.connection_id)
        except StoreUnavailable:
            self.answered(session_id, id, _STORE_AWAY)
            return
        if session_id != self.session_id or self._context.suspensions.of(self.user_id):
            return
        if partner is None:
            message = f"you have no connection {command.connection_id!r}"
            self._refuse(id, replies.Code.NOT_FOUND, message)
            return
        is_online = self._context.offers.is_online(partner)
        event = ev.StartDate(self.user_id, partner, command.connection_id, is_online)
        self._put(id, event, now_s)

    # The connection

    async def attach(
        self, connection: Connection, hello: cmd.Hello, device: int, expires_at: Instant
    ) -> None:
        """Make a socket the user's connection; returns when the welcome is sent.

        Raises `UserSuspended` when the user was suspended while the mailbox had no room.

        Checkpoints. If cancelled, the socket does not become the user's connection. The lobby may
        still attach the device, so the caller must call `detach`.
        """
        abandoned = False

        def bind(reply: replies.Reply, now: Instant) -> None:
            if isinstance(reply, replies.Refusal):
                # Another node has taken the room.
                return
            assert isinstance(reply, replies.Snapshot)
            if abandoned:
                # In the lobby this device has replaced the older one, which has to reconnect.
                message = "the server was too busy; try again"
                self.close_connection(CloseCode.INTERNAL_ERROR, message)
                return
            self._welcome(connection, hello, reply, now, expires_at)

        await self.wait_for_room()
        # The event that expels a suspended user may be in the mailbox: no other may follow it.
        self._context.suspensions.check(self.user_id)
        try:
            reply = await self.ask(ev.Attached(self.user_id, device), bind)
        except trio.Cancelled:
            abandoned = True
            raise
        if isinstance(reply, replies.Refusal):
            raise RoomMoved(self.link.room, None)

    def detach(self, connection: Connection, device: int) -> None:
        """The socket is closed. Does not block."""
        if self.connection is connection:
            self.connection = None
        self.spoke_s = trio.current_time()
        message = Message(ev.Detached(self.user_id, device), self)
        if self._held is not None:
            self._held.append(message)
        else:
            self.link.mailbox.put_always(message)
        self.in_flight += 1
