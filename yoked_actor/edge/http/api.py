"""Common to all HTTP calls: the caller, the body, answers and problems."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import msgspec
import trio
from quart import Response, request

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.lobby import RoomMoved, Session, Sessions
from yoked_actor.actors.nodes import Directory
from yoked_actor.domain.lobby import Code, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.ops import Role
from yoked_actor.edge.auth import BadToken, Identity, Tokens
from yoked_actor.settings import Settings
from yoked_actor.store import Store
from yoked_actor.wire.lobby import encode
from yoked_actor.wire.problems import STATUS, Problem
from yoked_actor.wire.surrogates import LONE_SURROGATE, without_lone_surrogates

T = TypeVar("T")

TITLES = {code: code.value.replace("_", " ").capitalize() for code in Code}
PROBLEM_TYPE = "application/problem+json"


class Refused(Exception):
    """A call is answered with a problem."""

    def __init__(self, code: Code, message: str, retry_after_s: float = 1.0) -> None:
        """`retry_after_s` is told with `rate_limited` and `draining`."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s


class Api(msgspec.Struct, kw_only=True):
    """Shared by all calls: identifies the caller, limits the rate, asks the lobby."""

    settings: Settings
    clock: Clock
    store: Store
    sessions: Sessions
    tokens: Tokens
    dev: bool = False
    directory: Directory | None = None
    """With several nodes: what is known of them."""

    @property
    def is_draining(self) -> bool:
        """Whether the server is about to stop."""
        return self.sessions.context.draining

    async def identify(self) -> Identity:
        """The caller, by the token of this request."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refused(Code.UNAUTHORIZED, "send a token: Authorization: Bearer ...")
        try:
            return await self.tokens.check(token.strip(), self.clock)
        except BadToken as error:
            raise Refused(Code.UNAUTHORIZED, str(error)) from None

    async def caller(self, *, even_suspended: bool = False) -> Session:
        """The session of the caller, within the rate. The call is a sign of life."""
        user_id = (await self.identify()).user_id
        try:
            session = await self.session_of(user_id, even_suspended=even_suspended)
        except RoomMoved as moved:
            # Some node takes the room soon, and the client need not call again and again.
            served = self.sessions.context.served
            if moved.url is not None or served is None or not await served(moved.room):
                raise
            session = await self.session_of(user_id, even_suspended=even_suspended)
        if self.sessions.suspensions.of(user_id) is None:
            session.called()
        return session

    async def present(self) -> Session:
        """The session of a caller who is here from now on, for a call that the lobby ignores."""
        session = await self.caller()
        await self.ask(session, ev.SignOfLife(session.user_id))
        return session

    async def operator(self, needed: Role) -> Session:
        """The session of the caller, an operator with at least this role, within the rate."""
        identity = await self.identify()
        self.sessions.suspensions.check(identity.user_id)
        if identity.role is None:
            raise Refused(Code.FORBIDDEN, "this is for operators")
        if not identity.role.includes(needed):
            message = f"this needs the role {needed}, and the token has the role {identity.role}"
            raise Refused(Code.FORBIDDEN, message)
        try:
            return await self.session_of(identity.user_id)
        except RoomMoved:
            # An operator asks this node, wherever their own room is.
            return self._within_rate(self.sessions.visitor(identity.user_id))

    def _within_rate(self, session: Session) -> Session:
        if not session.may_speak():
            raise Refused(Code.RATE_LIMITED, "too many calls; slow down")
        return session

    async def record(self, session: Session, action: str, subject: str, detail: str = "") -> None:
        """Record in the audit what an operator has done."""
        await self.store.audit.record(session.user_id, action, subject, detail, self.clock.now())

    async def session_of(self, user_id: str, *, even_suspended: bool = False) -> Session:
        """The session of a user, within the rate. Raises `UserSuspended`."""
        session = await self.sessions.enter(user_id)
        if not even_suspended:
            self.sessions.suspensions.check(user_id)
        self._within_rate(session)
        room = request.args.get("room")
        if room is not None and room != session.link.room:
            await self.enter_room(session, room, request.args.get("code"))
        return session

    async def enter_room(self, session: Session, room: str, code: str | None) -> str:
        """Move the caller into a room. A refusal is raised as `Refused`."""
        rooms = self.sessions.context.rooms
        assert rooms is not None
        if self.is_draining:
            raise Refused(Code.DRAINING, "the server is about to stop; come back soon")
        timeout_s = self.settings.edge.request_timeout_s
        with trio.move_on_after(timeout_s):
            reply = await rooms.enter(session.user_id, room, code)
            if isinstance(reply, replies.Refusal):
                raise Refused(reply.code, reply.message)
            return room
        raise Refused(Code.INTERNAL, f"no answer within {timeout_s:g} s; ask for the status")

    async def ask(self, session: Session, event: ev.Event) -> replies.Reply:
        """The reply of the lobby. A refusal is raised as `Refused`."""
        timeout_s = self.settings.edge.request_timeout_s
        with trio.move_on_after(timeout_s):
            reply = await self.sessions.ask(session, event)
            if isinstance(reply, replies.Refusal) and reply.code is Code.MOVED:
                # The room was taken over meanwhile: say which node has it.
                await self.sessions.enter(session.user_id)
                raise RoomMoved(session.link.room, None)
            if isinstance(reply, replies.Refusal):
                raise Refused(reply.code, reply.message)
            return reply
        raise Refused(Code.INTERNAL, f"no answer within {timeout_s:g} s; ask for the status")


async def read_body(kind: type[T]) -> T:
    """The body of this request, checked."""
    raw = await request.get_data()
    assert isinstance(raw, bytes)
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = str(error) or "the body is not JSON"
        if not isinstance(error, msgspec.ValidationError) and without_lone_surrogates(raw):
            problem = LONE_SURROGATE
        raise Refused(Code.BAD_REQUEST, problem) from None


def answer(body: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(body), status, content_type="application/json")


def problem(
    code: Code, detail: str, status: int | None = None, retry_after_s: float = 1.0
) -> Response:
    """A problem response (RFC 9457)."""
    status = STATUS[code] if status is None else status
    body = encode(Problem(status, TITLES[code], detail, code))
    response = Response(body, status, content_type=PROBLEM_TYPE)
    if code is Code.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    elif code in (Code.RATE_LIMITED, Code.DRAINING):
        response.headers["Retry-After"] = str(math.ceil(retry_after_s))
    return response
