"""What is sent to one user: numbered events, replies, and the welcome of a connection.

Events are numbered and the last ones kept, so that a client that lost its socket can resume. The
reply to a command is kept too: a repeated command gets the same reply and has no second effect.
"""

from __future__ import annotations

from collections.abc import MutableSequence
from typing import Final

from yoked_actor.actors.lobby.moved import RoomMoved
from yoked_actor.actors.lobby.room_link import RoomLink
from yoked_actor.actors.lobby.sessions.context import Connection, SessionContext
from yoked_actor.actors.lobby.sessions.ice import ice_servers
from yoked_actor.domain.lobby import notices, replies
from yoked_actor.domain.time import Instant, to_datetime
from yoked_actor.wire.close_codes import CloseCode
from yoked_actor.wire.lobby import Error, OkMessage, encode, moved_error, ok_reply, rendering
from yoked_actor.wire.lobby import commands as cmd
from yoked_actor.wire.lobby import events as wire

# A constant is read faster than a name of a module.
_DATE_STARTED: Final = notices.DateStarted
_encode: Final = encode


class SessionOutput:
    """The part of a session that sends. Nothing here blocks."""

    __slots__ = (
        "_context",
        "_kept",
        "_pending",
        "_replies",
        "connection",
        "is_warned",
        "link",
        "seq",
        "session_id",
        "unsent",
        "user_id",
    )

    def __init__(self, user_id: str, context: SessionContext, link: RoomLink) -> None:
        self._context = context
        self.link = link
        """The room that the user is in."""
        self.user_id = user_id
        self.session_id = context.new_session_id()
        self.seq = 0
        self.connection: Connection | None = None
        self.is_warned = False
        """Whether the user was notified that the server is about to stop."""
        self.unsent = False
        self._kept: MutableSequence[bytes] | None = None
        """The last events. A list is small for the many users who get few events."""
        self._replies: dict[str, bytes] = {}
        self._pending: dict[str, int] = {}
        """How often each command that awaits its reply was received."""

    # Events

    def tell(self, notice: notices.Notice, now: Instant) -> None:
        """Number a notice, keep it, and send it if there is a connection."""
        servers = self._ice_servers(now) if type(notice) is _DATE_STARTED else ()
        at = rendering.moment_of(now)
        self._emit(rendering.event_of(notice, self.seq + 1, at, servers))

    def show(self, snapshot: replies.Snapshot, now: Instant) -> wire.Snapshot:
        """A snapshot as the client receives it."""
        return rendering.snapshot_part(snapshot, self._ice_servers(now) if snapshot.date else ())

    def say_draining(self, now: Instant, reconnect_after_s: float) -> None:
        """Notify the user, once, that the server is about to stop."""
        if self.is_warned or self.connection is None:
            return
        self.is_warned = True
        self._emit(
            wire.Draining(
                seq=self.seq + 1, at=to_datetime(now), reconnect_after_s=reconnect_after_s
            )
        )
        self.connection.flush()

    def _emit(self, event: wire.Event) -> None:
        text = _encode(event)
        self.seq += 1
        kept = self._kept
        if kept is None:
            kept = self._kept = []
        kept.append(text)
        if len(kept) > self._context.kept_events:
            del kept[0]
        self._send(text)

    def _ice_servers(self, now: Instant) -> wire.IceServers:
        return ice_servers(self._context.settings.date, self.user_id, now)

    # Replies

    def _resend(self, id: str) -> bool:
        """Whether a command was received before; if so, it gets the reply to the first one."""
        known = self._replies.get(id)
        if known is not None:
            self._send(known)
        elif id in self._pending:
            self._pending[id] += 1
        else:
            return False
        return True

    def answered(self, session_id: str, id: str, reply: replies.Reply) -> None:
        """Send the reply to a command, unless the session was reset since it was received."""
        if session_id == self.session_id:
            self._reply(id, ok_reply(id, reply))

    def _reply(self, id: str, reply: OkMessage | Error) -> None:
        text = _encode(reply)
        recent = self._replies
        recent[id] = text
        if len(recent) > self._context.kept_replies:
            del recent[next(iter(recent))]
        for _ in range(self._pending.pop(id, 1)):
            self._send(text)

    def _refuse(self, id: str, code: replies.Code, message: str) -> None:
        self._reply(id, Error(re=id, code=code, message=message))

    def _send(self, text: bytes) -> None:
        if self.connection is not None:
            self.connection.send(text)
            self.unsent = True

    # The connection

    def close_connection(self, code: int, reason: str) -> None:
        """Close the user's connection, if there is one."""
        if self.connection is not None:
            self.connection.flush()
            self.connection.close(code, reason)

    def send_away(self, moved: RoomMoved | None) -> None:
        """The user's room is not served here any more: close the connection, if there is one.

        With `moved` the client connects to the node that serves the room, if there is one.
        """
        if self.connection is None:
            return
        if moved is None:
            self.close_connection(CloseCode.DRAINING, "another node takes the room over")
        elif moved.url is None:
            self.close_connection(CloseCode.INTERNAL_ERROR, str(moved))
        else:
            self.connection.send(encode(moved_error(None, str(moved), moved.url)))
            self.close_connection(CloseCode.MOVED, str(moved))

    def reset(self) -> None:
        """Forget what was sent and received: a new session of the same user begins."""
        self.session_id = self._context.new_session_id()
        self.seq = 0
        self._kept = None
        self._replies = {}
        self._pending = {}

    def _welcome(
        self,
        connection: Connection,
        hello: cmd.Hello,
        snapshot: replies.Snapshot,
        now: Instant,
        expires_at: Instant,
    ) -> None:
        """Replace the user's connection, and send the events that the client has missed."""
        self.close_connection(CloseCode.REPLACED, "replaced by a newer connection")
        missed = self._missed(hello.resume)
        if missed is None:
            self.reset()
        seq = self.seq - len(missed or ())
        self.connection = connection
        self._context.metrics.connections.count_hello(hello.resume is not None, missed is not None)
        welcome = wire.Welcome(
            seq=seq,
            at=to_datetime(now),
            re=hello.id,
            session=self.session_id,
            room=snapshot.room,
            resumed=missed is not None,
            snapshot=self.show(snapshot, now),
            heartbeat_every_s=self._context.settings.matching.heartbeat_every_s,
            expires_at=to_datetime(expires_at),
        )
        connection.send(encode(welcome))
        for text in missed or ():
            connection.send(text)
        self.unsent = True
        connection.flush()

    def _missed(self, resume: cmd.Resume | None) -> list[bytes] | None:
        """The events that a client has not seen; None when its session cannot be resumed."""
        if resume is None or resume.session != self.session_id:
            return None
        behind = self.seq - resume.seq
        kept = self._kept or ()
        if not 0 <= behind <= len(kept):
            return None
        return list(kept[len(kept) - behind :])
