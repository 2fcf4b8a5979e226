"""A session: everything that is said to one user, and heard from them.

It answers a command once, whatever the client repeats; it numbers events and keeps the last ones,
so that a client that lost its socket can take up where it was; it lets one device speak for the
user at a time. What is decided is the matchmaker's business: a session only puts events into the
matchmaker's mailbox and says what comes back. Nothing here blocks: a client that does not read is
hung up on by its connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import trio

from yoked_actor.actors.lobby.ice import ice_servers
from yoked_actor.actors.lobby.matchmaker import Message, Then
from yoked_actor.actors.lobby.session_context import Connection, SessionContext, event_of
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import notices as told
from yoked_actor.domain.ops import Objective
from yoked_actor.domain.people import Report, is_user_id
from yoked_actor.domain.time import Instant, TokenBucket, to_datetime
from yoked_actor.store import StoreUnavailable, TooManyReports
from yoked_actor.wire.close_codes import CloseCode
from yoked_actor.wire.lobby import commands as cmd
from yoked_actor.wire.lobby import events as wire
from yoked_actor.wire.lobby import problem_with, rendering

Renew = Callable[[cmd.Hello], Awaitable[told.Reply]]
_STORE_AWAY = told.Refusal(told.Code.INTERNAL, "the store is not available; try again")


class Session:
    """One user's side of the conversation."""

    __slots__ = (
        "_bucket",
        "_context",
        "_kept",
        "_pending",
        "_replies",
        "_signals",
        "connection",
        "in_flight",
        "is_warned",
        "leaving",
        "loading",
        "seq",
        "session_id",
        "spoke_s",
        "unsent",
        "user_id",
    )

    def __init__(self, user_id: str, context: SessionContext) -> None:
        edge, now_s = context.settings.edge, trio.current_time()
        self._context = context
        self.user_id = user_id
        self.session_id = context.new_session_id()
        self.seq = 0
        self.connection: Connection | None = None
        self.in_flight = 0
        self.is_warned = False
        """Whether the user was told that the server is about to stop."""
        self.leaving = False
        self.loading: trio.Event | None = None
        self.spoke_s = now_s
        """When the user was last heard, on trio's clock."""
        self.unsent = False
        self._bucket = TokenBucket(edge.commands_per_s, edge.commands_burst, now_s)
        self._signals: TokenBucket | None = None
        self._kept: deque[bytes] | None = None
        self._replies: dict[str, bytes] = {}
        self._pending: dict[str, int] = {}

    # To the matchmaker

    def post(self, event: ev.Event, then: Then | None = None) -> None:
        """Put an event into the matchmaker's mailbox, or raise `MailboxFull`. Does not block.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        """
        now_s = trio.current_time() if type(event) in (ev.Spin, ev.Vote) else -1.0
        try:
            self._context.mailbox.put_nowait(Message(event, self, then, now_s))
        except MailboxFull:
            if type(event) is ev.Spin:
                self._context.metrics.objectives.count(Objective.SPINS, 0, 1, now_s)
            raise
        self.in_flight += 1

    async def ask(self, event: ev.Event, then: Then | None = None) -> told.Reply:
        """Put an event into the matchmaker's mailbox, and wait for the reply.

        `then` is called with the reply as soon as the decision is stored, before other tasks run.
        Raises `MailboxFull` when there is no room; nothing has been put then.

        Checkpoints once, after the event has been put. If cancelled there, only the caller stops
        waiting: the event is decided all the same, and `then` is called.
        """
        replied = trio.Event()
        replies: list[told.Reply] = []

        def receive(reply: told.Reply, now: Instant) -> None:
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

    def may_speak(self) -> bool:
        """Whether the user is within the rate; if so, this is counted."""
        self.spoke_s = trio.current_time()
        return self._bucket.take(self.spoke_s)

    # From the client

    def beat(self) -> None:
        """Hear a sign of life that wants no reply."""
        if self.may_speak():
            self._heard()

    async def receive(self, text: bytes, renew: Renew) -> None:
        """Hear one message. Raises `NotAnObject` when the protocol is broken.

        `renew` judges the token of a hello that is said on an open socket.
        """
        now = self._context.clock.now()
        try:
            command = cmd.decode_command(text)
        except cmd.BadCommand as bad:
            if self.may_speak():
                self._heard()
            if bad.id is None:
                self._say(wire.Error(re=None, code=told.Code.BAD_REQUEST, message=bad.message))
            elif not self._repeated(bad.id):
                self._refuse(bad.id, told.Code.BAD_REQUEST, bad.message)
        else:
            await self._obey(command, now, renew)
        if self.unsent and self.connection is not None:
            self.unsent = False
            self.connection.flush()

    async def _obey(self, command: cmd.Command, now: Instant, renew: Renew) -> None:
        id, within_rate = command.id, self.may_speak()
        if self._repeated(id):
            # It has no second effect, but a user who repeats a command is alive (R14).
            if within_rate:
                self._heard()
            return
        if not within_rate:
            self._refuse(id, told.Code.RATE_LIMITED, "too many commands; slow down")
            return
        if len(self._pending) >= self._context.settings.session.max_pending_commands:
            self._refuse(id, told.Code.RATE_LIMITED, "too many commands await their reply")
            return
        kind = type(command)
        if kind is cmd.Heartbeat:
            self._heard()
            self._reply(id, wire.Ok(re=id, at=to_datetime(now)))
        elif isinstance(command, cmd.Report):
            await self._report(command, now)
        elif isinstance(command, cmd.AnswerOffer):
            await self._answer_offer(command, now)
        elif isinstance(command, cmd.StartDate):
            await self._start_date(command, now)
        elif isinstance(command, cmd.Hello):
            self._heard()
            self._pending[id], session_id = 1, self.session_id
            self._answered(session_id, id, await renew(command), now)
        elif kind is cmd.Watch:
            self._heard()
            self._refuse(id, told.Code.WRONG_STATE, "hello was said already")
        elif kind is cmd.Spin and self._context.draining:
            self._refuse(id, told.Code.DRAINING, "the server is about to stop; come back soon")
        elif isinstance(command, cmd.Signal) and (refusal := self._objection(command, now)):
            self._heard()
            self._refuse(id, refusal.code, refusal.message)
        else:
            self._put(id, event_of(self.user_id, command))

    def _repeated(self, id: str) -> bool:
        """Whether an id was used before; if so, it gets the reply that it got, or will get."""
        known = self._replies.get(id)
        if known is not None:
            self._send(known)
        elif id in self._pending:
            self._pending[id] += 1
        else:
            return False
        return True

    def _put(self, id: str, event: ev.Event) -> None:
        """Put a command to the matchmaker; the reply comes when it is decided."""
        try:
            self.post(event, partial(self._answered, self.session_id, id))
        except MailboxFull:
            self._refuse(id, told.Code.INTERNAL, "the server is overloaded; try again")
        else:
            self._pending.setdefault(id, 1)

    def _objection(self, command: cmd.Signal, now: Instant) -> told.Refusal | None:
        """Why a signal is refused, whatever date it is for."""
        limits = self._context.settings.date
        if len(command.data) > limits.max_signal_bytes:
            message = f"data is larger than {limits.max_signal_bytes} bytes"
            return told.Refusal(told.Code.TOO_LARGE, message)
        problem = problem_with(command.data)
        if problem is not None:
            return told.Refusal(told.Code.BAD_REQUEST, problem)
        if self._signals is None:
            self._signals = TokenBucket(
                limits.signals_per_s, limits.signals_burst, trio.current_time()
            )
        if not self._signals.take(trio.current_time()):
            return told.Refusal(told.Code.RATE_LIMITED, "too many signals; slow down")
        return None

    def _heard(self) -> None:
        # Beats come again; one that finds the mailbox full is one lost beat, which is tolerated.
        with suppress(MailboxFull):
            self.post(ev.Heard(self.user_id))

    async def _report(self, command: cmd.Report, now: Instant) -> None:
        self._heard()
        if not is_user_id(command.user_id):
            message = "user_id is not the id of a user"
            self._refuse(command.id, told.Code.BAD_REQUEST, message)
            return
        self._pending[command.id] = 1
        report = Report(self.user_id, command.user_id, command.reason, command.match_id, now)
        session_id = self.session_id
        try:
            await self._context.store.add_report(report, self._context.report_limits())
        except TooManyReports as error:
            reply: told.Reply = told.Refusal(told.Code.RATE_LIMITED, str(error))
        except StoreUnavailable:
            reply = told.Refusal(told.Code.INTERNAL, "it could not be stored")
        else:
            reply = told.Done()
        self._answered(session_id, command.id, reply, now)

    async def _answer_offer(self, command: cmd.AnswerOffer, now: Instant) -> None:
        self._heard()
        id, session_id, desk = command.id, self.session_id, self._context.desk
        self._pending[id] = 1
        try:
            reply = await desk.answer(self.user_id, command.offer_id, command.answer)
        except StoreUnavailable:
            reply = _STORE_AWAY
        self._answered(session_id, id, reply, now)

    async def _start_date(self, command: cmd.StartDate, now: Instant) -> None:
        self._heard()
        id, session_id = command.id, self.session_id
        if self._context.draining:
            self._refuse(id, told.Code.DRAINING, "the server is about to stop; come back soon")
            return
        self._pending[id] = 1
        try:
            partner = await self._context.desk.partner(self.user_id, command.connection_id)
        except StoreUnavailable:
            self._answered(session_id, id, _STORE_AWAY, now)
            return
        if session_id != self.session_id or self._context.suspensions.of(self.user_id):
            return
        if partner is None:
            message = f"you have no connection {command.connection_id!r}"
            self._refuse(id, told.Code.NOT_FOUND, message)
            return
        self._put(id, ev.StartDate(self.user_id, partner))

    # To the client

    def tell(self, notice: told.Notice, now: Instant) -> None:
        """Tell the user something: numbered, kept, and sent if somebody listens."""
        servers = self._ice_servers(now) if type(notice) is told.DateStarted else ()
        self._emit(rendering.event_of(notice, self.seq + 1, to_datetime(now), servers))

    def show(self, snapshot: told.Snapshot, now: Instant) -> wire.Snapshot:
        """How things stand, as the user is told."""
        return rendering.snapshot_part(snapshot, self._ice_servers(now) if snapshot.date else ())

    def _ice_servers(self, now: Instant) -> wire.IceServers:
        return ice_servers(self._context.settings.date, self.user_id, now)

    def say_draining(self, now: Instant, reconnect_after_s: float) -> None:
        """Tell the user, once, that the server is about to stop."""
        if self.is_warned or self.connection is None:
            return
        self.is_warned = True
        self._emit(
            wire.Draining(
                seq=self.seq + 1, at=to_datetime(now), reconnect_after_s=reconnect_after_s
            )
        )
        self.connection.flush()

    def hang_up(self, code: int, reason: str) -> None:
        """Close the user's connection, if there is one."""
        if self.connection is not None:
            self.connection.flush()
            self.connection.close(code, reason)

    async def attach(
        self, connection: Connection, hello: cmd.Hello, device: int, expires_at: Instant
    ) -> None:
        """Make a socket the user's connection; returns when the welcome is sent.

        Raises `UserSuspended` when the user was suspended while the mailbox had no room.

        Checkpoints. If cancelled, the socket does not become the user's connection. The lobby may
        still attach the device, so the caller must call `detach`.
        """
        abandoned = False

        def bind(reply: told.Reply, now: Instant) -> None:
            assert isinstance(reply, told.Snapshot)
            if abandoned:
                # To the lobby the newer device has replaced the older one, and is gone.
                self.hang_up(CloseCode.INTERNAL_ERROR, "the server was too busy; try again")
                return
            self._bind(connection, hello, reply, now, expires_at)

        await self.wait_for_room()
        # The event that expels a suspended user may be in the mailbox: no other may follow it.
        self._context.suspensions.check(self.user_id)
        try:
            await self.ask(ev.Attached(self.user_id, device), bind)
        except trio.Cancelled:
            abandoned = True
            raise

    def detach(self, connection: Connection, device: int) -> None:
        """The socket is gone."""
        if self.connection is connection:
            self.connection = None
        self.spoke_s = trio.current_time()
        self._context.mailbox.put_always(Message(ev.Detached(self.user_id, device), self))
        self.in_flight += 1

    def _bind(
        self,
        connection: Connection,
        hello: cmd.Hello,
        snapshot: told.Snapshot,
        now: Instant,
        expires_at: Instant,
    ) -> None:
        if self.connection is not None:
            self.connection.flush()
            self.connection.close(CloseCode.REPLACED, "replaced by a newer connection")
        missed = self._missed(hello.resume)
        if missed is None:
            self.start_anew()
        seq = self.seq - len(missed or ())
        self.connection = connection
        self._context.metrics.connections.count_hello(hello.resume is not None, missed is not None)
        welcome = wire.Welcome(
            seq=seq,
            at=to_datetime(now),
            re=hello.id,
            session=self.session_id,
            resumed=missed is not None,
            snapshot=self.show(snapshot, now),
            heartbeat_every_s=self._context.settings.matching.heartbeat_every_s,
            expires_at=to_datetime(expires_at),
        )
        connection.send(wire.encode(welcome))
        for text in missed or ():
            connection.send(text)
        self.unsent = True
        connection.flush()

    def _missed(self, resume: cmd.Resume | None) -> list[bytes] | None:
        """The events a client has not seen; None when its session cannot be taken up."""
        if resume is None or resume.session != self.session_id:
            return None
        behind = self.seq - resume.seq
        kept = self._kept or ()
        if not 0 <= behind <= len(kept):
            return None
        return list(kept)[len(kept) - behind :]

    def start_anew(self) -> None:
        """Remember nothing of what was said: a new conversation begins."""
        self.session_id = self._context.new_session_id()
        self.seq = 0
        self._kept = None
        self._replies = {}
        self._pending = {}

    def _answered(self, session_id: str, id: str, reply: told.Reply, now: Instant) -> None:
        """A reply has come; a newer session of the same user knows nothing of the command."""
        if session_id == self.session_id:
            self._reply(id, rendering.ok_reply(id, reply))

    def _reply(self, id: str, reply: wire.Ok | wire.Error) -> None:
        """Send the reply to a command, and keep it for whoever repeats the command."""
        text = wire.encode(reply)
        self._replies[id] = text
        if len(self._replies) > self._context.settings.session.kept_replies:
            del self._replies[next(iter(self._replies))]
        for _ in range(self._pending.pop(id, 1)):
            self._send(text)

    def _refuse(self, id: str, code: told.Code, message: str) -> None:
        self._reply(id, wire.Error(re=id, code=code, message=message))

    def _emit(self, event: wire.Event) -> None:
        text = wire.encode(event)
        self.seq += 1
        if self._kept is None:
            self._kept = deque(maxlen=self._context.settings.session.kept_events)
        self._kept.append(text)
        self._send(text)

    def _say(self, message: wire.Ok | wire.Error) -> None:
        self._send(wire.encode(message))

    def _send(self, text: bytes) -> None:
        if self.connection is not None:
            self.connection.send(text)
            self.unsent = True
