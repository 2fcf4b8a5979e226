"""A WebSocket conversation: hello first, then commands, until one side closes.

An operator's conversation begins with `watch` instead, and uses neither sessions nor the lobby.

This module chooses the close codes; sessions carry out the commands.
"""

from __future__ import annotations

from collections.abc import Callable

import trio

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import RoomMoved, Session, Sessions, UserSuspended
from yoked_actor.actors.ops import StatusBoard, Watcher
from yoked_actor.domain.lobby import Code, Refusal, Renewed, Reply
from yoked_actor.domain.time import TokenBucket
from yoked_actor.edge.auth import BadToken, Identity, Tokens
from yoked_actor.edge.ws.connection import Awaited, MessageHandler, WebSocketConnection
from yoked_actor.edge.ws.expiries import Expiries
from yoked_actor.edge.ws.hello_timeouts import HelloTimeouts
from yoked_actor.settings import EdgeSettings
from yoked_actor.store import StoreUnavailable
from yoked_actor.wire.close_codes import CloseCode
from yoked_actor.wire.lobby import (
    BadCommand,
    Command,
    Error,
    Hello,
    NotAnObject,
    Watch,
    decode_command,
    encode,
    moved_error,
    refusal_error,
    suspended_error,
)


class Conversations:
    """All conversations. `begin` is the WebSocket handler of the front door."""

    def __init__(
        self,
        sessions: Sessions,
        tokens: Tokens,
        clock: Clock,
        settings: EdgeSettings,
        arrived: Callable[[tuple[str]], None],
        board: StatusBoard,
    ) -> None:
        self.sessions = sessions
        self.tokens = tokens
        self.clock = clock
        self.settings = settings
        self.arrived = arrived
        """Is called with the id of each user who has been welcomed."""
        self.board = board
        self.waiting: dict[str, _Conversation] = {}
        """Users whose room has no node at the moment, each with the last socket that came."""
        self.expiries = Expiries(clock)
        self.hello_timeouts = HelloTimeouts(settings.hello_timeout_s)

    def begin(self, connection: WebSocketConnection) -> MessageHandler:
        """Serve a new connection."""
        conversation = _Conversation(self, connection)
        self.hello_timeouts.expect(conversation)
        return conversation

    async def run(self) -> None:
        """Close connections of clients that never say hello. Runs until cancelled."""
        await self.hello_timeouts.run()


class _Conversation:
    """The state of one conversation."""

    __slots__ = (
        "_all",
        "_bucket",
        "_connection",
        "_device",
        "_early",
        "_identity",
        "_session",
        "_watcher",
    )

    def __init__(self, all: Conversations, connection: WebSocketConnection) -> None:
        settings, now_s = all.settings, trio.current_time()
        self._all = all
        self._bucket = TokenBucket(settings.frames_per_s, settings.frames_burst, now_s)
        self._connection = connection
        self._early = 0
        self._identity: Identity | None = None
        self._session: Session | None = None
        self._watcher: Watcher | None = None
        self._device = 0

    def admits_frame(self, now_s: float) -> bool:
        """Whether one more frame, of any kind, is within the rate; if so, it is counted."""
        if self._session is None and self._watcher is None:
            # A hello needs few frames, and the user is not known yet.
            self._early += 1
            if self._early > self._all.settings.frames_before_hello:
                return False
        return self._bucket.take(now_s)

    def on_ping(self, now_s: float) -> None:
        """A ping counts as a `heartbeat` of the user."""
        if self._session is not None and self._may_speak(self._session):
            self._session.beat(now_s)

    def _may_speak(self, session: Session) -> bool:
        # Messages that arrive after the user was suspended are dropped.
        return self._all.sessions.suspensions.of(session.user_id) is None

    def receive(self, text: bytes, now_s: float) -> Awaited | None:
        """Handle one message of the client."""
        try:
            if self._session is not None:
                if self._may_speak(self._session):
                    return self._session.receive(text, now_s, self._renew)
            elif self._watcher is not None:
                return self._watcher.receive(text, self._all.clock.now(), self._renew)
            else:
                self._all.hello_timeouts.forget(self)
                return self._identify(decode_command(text))
        except NotAnObject as error:
            self._connection.close(CloseCode.PROTOCOL_ERROR, str(error))
        except BadCommand as bad:
            self._connection.send(
                encode(Error(re=bad.id, code=Code.BAD_REQUEST, message=bad.message))
            )
            if bad.type in ("hello", "watch") and not bad.has_token:
                self._connection.close(CloseCode.UNAUTHORIZED, f"{bad.type} without a token")
            else:
                self._connection.close(CloseCode.PROTOCOL_ERROR, "hello expected")
        return None

    async def _identify(self, first: Command) -> None:
        connection, sessions = self._connection, self._all.sessions
        if not isinstance(first, Hello | Watch):
            connection.close(CloseCode.PROTOCOL_ERROR, "hello must be first")
            return
        if sessions.context.draining:
            connection.close(CloseCode.DRAINING, "the server is about to stop")
            return
        try:
            identity = await self._all.tokens.check(first.token, self._all.clock)
        except BadToken as error:
            connection.close(CloseCode.UNAUTHORIZED, str(error))
            return
        try:
            sessions.suspensions.check(identity.user_id)
            if isinstance(first, Watch):
                self._watch(first, identity)
            else:
                with trio.move_on_after(self._all.settings.welcome_timeout_s) as waiting:
                    await self._welcome_when_served(first, identity)
                if waiting.cancelled_caught:
                    connection.close(CloseCode.INTERNAL_ERROR, "the server is too busy; try again")
        except UserSuspended as error:
            suspension = error.suspension
            refusal = suspended_error(first.id, str(error), suspension.reason, suspension.until)
            connection.send(encode(refusal))
            connection.close(CloseCode.UNAUTHORIZED, f"suspended: {suspension.reason}")
        except RoomMoved as moved:
            if moved.url is None:
                connection.close(CloseCode.INTERNAL_ERROR, str(moved))
            else:
                connection.send(encode(moved_error(first.id, str(moved), moved.url)))
                connection.close(CloseCode.MOVED, str(moved))
        except StoreUnavailable:
            connection.close(CloseCode.INTERNAL_ERROR, "the store is not available; try again")

    async def _welcome_when_served(self, hello: Hello, identity: Identity) -> None:
        """Welcome a user, after some node has the user's room.

        Clients that are sent away while no node has the room would come again and again, just
        when the nodes have the most to do.
        """
        waiting, user_id = self._all.waiting, identity.user_id
        # An earlier socket of the user that still waits was abandoned, or is replaced.
        waiting.pop(user_id, None)
        try:
            await self._welcome(hello, identity)
            return
        except RoomMoved as moved:
            served = self._all.sessions.context.served
            if moved.url is not None or served is None:
                raise
            waiting[user_id] = self
            try:
                is_served = await served(moved.room)
            finally:
                is_last = waiting.get(user_id) is self
                if is_last:
                    del waiting[user_id]
            if is_last and not is_served:
                raise
        if is_last:
            await self._welcome(hello, identity)
        else:
            self._connection.close(CloseCode.REPLACED, "replaced by a newer connection")

    async def _welcome(self, hello: Hello, identity: Identity) -> None:
        sessions, user_id = self._all.sessions, identity.user_id
        session = await sessions.enter(user_id)
        if hello.room is not None:
            refusal = await self._enter_room(user_id, hello.room, hello.code)
            if refusal is not None:
                self._connection.send(encode(refusal_error(hello.id, refusal)))
                self._connection.flush()
                # The client may say hello again, for another room.
                self._all.hello_timeouts.expect(self)
                return
            session = await sessions.enter(user_id)
        self._session, self._device = session, sessions.new_device()
        self._use_identity(identity)
        await session.attach(self._connection, hello, self._device, identity.expires_at)
        self._all.arrived((user_id,))

    async def _enter_room(self, user_id: str, room: str, code: str | None) -> Refusal | None:
        """Why a user cannot enter the room of their hello; None if they are in a room."""
        rooms = self._all.sessions.context.rooms
        assert rooms is not None
        reply = await rooms.enter(user_id, room, code)
        # A user who waits, or is in a match or on a date, stays there: the welcome says where.
        if isinstance(reply, Refusal) and reply.code is not Code.WRONG_STATE:
            return reply
        return None

    def _watch(self, watch: Watch, identity: Identity) -> None:
        connection, board = self._connection, self._all.board
        if identity.role is None:
            message = "this is for operators"
            connection.send(encode(Error(re=watch.id, code=Code.FORBIDDEN, message=message)))
            connection.close(CloseCode.UNAUTHORIZED, message)
        elif board.is_full:
            connection.close(CloseCode.RATE_LIMITED, "too many watch already")
        else:
            self._watcher = board.admit(connection, watch, identity.user_id, identity.expires_at)
            self._use_identity(identity)

    def _use_identity(self, identity: Identity) -> None:
        self._identity = identity
        self._all.expiries.put(self, self._all.tokens.ends_at(identity))

    async def _renew(self, hello: Hello) -> Reply:
        """Handle a hello on an open socket: a newer token of the same user extends its life."""
        known = self._identity
        assert known is not None
        if hello.resume is not None:
            return Refusal(Code.WRONG_STATE, "hello was said already")
        try:
            newer = await self._all.tokens.check(hello.token, self._all.clock)
        except BadToken as error:
            return Refusal(Code.WRONG_STATE, f"hello was said already, and {error}")
        if newer.user_id != known.user_id:
            return Refusal(Code.WRONG_STATE, "hello was said already, and by another user")
        if self._watcher is not None and newer.role is None:
            return Refusal(Code.WRONG_STATE, "this socket watches, and the token is no operator's")
        if newer.expires_at <= known.expires_at:
            return Refusal(Code.WRONG_STATE, "hello was said already, and the token is not newer")
        if self._connection.is_open:
            self._use_identity(newer)
        return Renewed(newer.expires_at)

    def token_expired(self) -> None:
        """The token has expired and was not renewed."""
        self._connection.close(CloseCode.UNAUTHORIZED, "the token has expired")

    def hello_timed_out(self) -> None:
        """No message has been handled in time."""
        # After a stall of the process a hello may be in the socket.
        self._connection.catch_up()
        if not self._connection.busy and self._session is None and self._watcher is None:
            self._connection.close(CloseCode.PROTOCOL_ERROR, "no hello in time")

    def end(self) -> None:
        """The connection has ended."""
        self._all.hello_timeouts.forget(self)
        self._all.expiries.forget(self)
        if self._session is not None:
            self._session.detach(self._connection, self._device)
            self._all.sessions.forget_later(self._session)
        if self._watcher is not None:
            self._all.board.forget(self._watcher)
