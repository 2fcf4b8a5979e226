"""The HTTP door: the Quart app, who is calling, and how answers and problems look.

The calls themselves are in `http_user` (what a client does), `http_dev` (one's own machine) and
`http_ops` (health, metrics, contract). All of them go through `Doors`, which knows the house.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import structlog
import trio
from quart import Response, request
from quart_trio import QuartTrio
from trio.testing import MockClock
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge

from yoked_actor.actors.clock import Clock
from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.actors.lobby import Matchmaker, Session, Sessions, UserSuspended
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.actors.offers import Calendar, OfferDesk
from yoked_actor.actors.ops import Alarm
from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.domain.lobby import Code, SettledView
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import notices as told
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.auth import BadToken, Identity, Tokens
from yoked_actor.edge.net import Origins
from yoked_actor.settings import Settings
from yoked_actor.store import Store, StoreUnavailable
from yoked_actor.telemetry import Metrics
from yoked_actor.wire.lobby import encode
from yoked_actor.wire.problems import STATUS, Problem

T = TypeVar("T")

_log = structlog.get_logger()
_TITLES = {code: code.value.replace("_", " ").capitalize() for code in Code}
_PROBLEM = "application/problem+json"
_CODES = {400: Code.BAD_REQUEST, 404: Code.NOT_FOUND, 405: Code.BAD_REQUEST, 413: Code.TOO_LARGE}


class Refused(Exception):
    """A call is answered with a problem."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Doors(msgspec.Struct):
    """What the calls need of the house."""

    settings: Settings
    clock: Clock
    sessions: Sessions
    store: Store
    tokens: Tokens
    metrics: Metrics
    desk: OfferDesk
    view: SettledView
    matchmaker: Matchmaker
    dispatcher: Dispatcher
    calendar: Calendar
    alarm: Alarm
    supervisor: Supervisor
    is_stalled: Callable[[], bool]
    dev: bool = False
    mock_clock: MockClock | None = None

    async def identify(self) -> Identity:
        """Who is calling, or a refusal."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refused(Code.UNAUTHORIZED, "send a token: Authorization: Bearer ...")
        try:
            return await self.tokens.check(token.strip(), self.clock)
        except BadToken as error:
            raise Refused(Code.UNAUTHORIZED, str(error)) from None

    async def caller(self, *, even_suspended: bool = False) -> Session:
        """The session of who is calling, within the rate."""
        return await self.session_of((await self.identify()).user_id, even_suspended=even_suspended)

    async def operator(self) -> Session:
        """The session of who is calling, who must be an operator, within the rate."""
        identity = await self.identify()
        self.sessions.suspensions.check(identity.user_id)
        if not identity.is_admin:
            raise Refused(Code.FORBIDDEN, "this is for the operator")
        return await self.session_of(identity.user_id)

    async def record(self, session: Session, action: str, subject: str, detail: str = "") -> None:
        """Keep in the audit what an operator has done."""
        await self.store.audit.record(session.user_id, action, subject, detail, self.clock.now())

    async def session_of(self, user_id: str, *, even_suspended: bool = False) -> Session:
        """The session of a user, within the rate. Raises `UserSuspended`."""
        session = await self.sessions.enter(user_id)
        if not even_suspended:
            self.sessions.suspensions.check(user_id)
        if not session.may_speak():
            raise Refused(Code.RATE_LIMITED, "too many calls; slow down")
        return session

    async def ask(self, session: Session, event: ev.Event) -> told.Reply:
        """What the lobby replies; its refusal is raised."""
        timeout_s = self.settings.edge.request_timeout_s
        with trio.move_on_after(timeout_s):
            reply = await self.sessions.ask(session, event)
            if isinstance(reply, told.Refusal):
                raise Refused(reply.code, reply.message)
            return reply
        raise Refused(Code.INTERNAL, f"no answer within {timeout_s:g} s; ask for the status")


async def read_body(kind: type[T]) -> T:
    """The body of this request, checked."""
    raw = await request.get_data()
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(Code.BAD_REQUEST, str(error) or "the body is not JSON") from None


def answer(body: Any, status: int = 200) -> Response:
    """A JSON answer."""
    return Response(encode(body), status, content_type="application/json")


def problem(code: Code, detail: str, status: int | None = None) -> Response:
    """An answer that says what went wrong."""
    status = STATUS[code] if status is None else status
    body = encode(Problem(status, _TITLES[code], detail, code))
    response = Response(body, status, content_type=_PROBLEM)
    if code is Code.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    elif code in (Code.RATE_LIMITED, Code.DRAINING):
        response.headers["Retry-After"] = "1"
    return response


def create_app(doors: Doors) -> QuartTrio:
    """The app, with what every call has in common; the calls are added by the other modules."""
    app = QuartTrio("yoked_actor", static_folder=None)
    edge = doors.settings.edge
    app.config["MAX_CONTENT_LENGTH"] = edge.max_body_bytes
    app.config["BODY_TIMEOUT"] = edge.request_timeout_s
    app.config["RESPONSE_TIMEOUT"] = edge.request_timeout_s
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # Merging slashes would redirect to whatever host the request names.
    app.url_map.merge_slashes = False
    origins = Origins(edge.allowed_origins, local_only=doors.dev)
    # Not on one's own machine: localhost is also the name of what listens on other ports there.
    hsts = None if doors.dev or not edge.hsts_max_age_s else f"max-age={edge.hsts_max_age_s:.0f}"

    @app.errorhandler(Refused)
    async def refused(error: Refused) -> Response:
        return problem(error.code, error.message)

    @app.errorhandler(UserSuspended)
    async def suspended(error: UserSuspended) -> Response:
        code, found = Code.SUSPENDED, error.suspension
        until = None if found.until is None else to_datetime(found.until)
        body = Problem(STATUS[code], _TITLES[code], str(error), code, found.reason, until)
        return Response(encode(body), STATUS[code], content_type=_PROBLEM)

    @app.errorhandler(RequestEntityTooLarge)
    async def too_large(error: RequestEntityTooLarge) -> Response:
        return problem(Code.TOO_LARGE, f"a body has {edge.max_body_bytes} bytes at most")

    @app.errorhandler(HTTPException)
    async def http_error(error: HTTPException) -> Response:
        status = error.code or 500
        code = _CODES.get(status, Code.INTERNAL if status >= 500 else Code.BAD_REQUEST)
        response = problem(code, error.description or error.name, status)
        if isinstance(error, MethodNotAllowed) and error.valid_methods:
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
        return response

    @app.errorhandler(StoreUnavailable)
    @app.errorhandler(MailboxFull)
    async def overloaded(error: Exception) -> Response:
        return problem(Code.INTERNAL, "the server cannot do this now; try again", 503)

    @app.errorhandler(Exception)
    async def crashed(error: Exception) -> Response:
        _log.exception("request_crashed", path=request.path)
        return problem(Code.INTERNAL, "this is our fault, and it has been logged")

    @app.teardown_request
    async def forget_error(error: BaseException | None) -> None:
        # Its traceback refers back to the request, and the garbage collector looks rarely.
        request.routing_exception = None

    @app.after_request
    async def headers(response: Response) -> Response:
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Content-Type-Options"] = "nosniff"
        if hsts is not None and request.scheme == "https":
            response.headers["Strict-Transport-Security"] = hsts
        origin = request.headers.get("Origin")
        if origins.any:
            response.headers["Access-Control-Allow-Origin"] = "*"
        elif edge.allowed_origins:
            response.headers["Vary"] = "Origin"
            if origin is not None and origins.names(origin):
                response.headers["Access-Control-Allow-Origin"] = origin
        return response

    @app.before_request
    async def one_path_each() -> None:
        # Quart drops slashes that a path begins with. A proxy whose rules name a path may not.
        if request.scope["path"].startswith("//"):
            raise NotFound

    @app.before_request
    async def only_from_here() -> None:
        if not doors.dev:
            return
        hosts = request.headers.getlist("Host")
        if not origins.answer_to(hosts):
            raise Refused(Code.FORBIDDEN, "with --dev call it localhost or 127.0.0.1")
        if not origins.take(request.headers.getlist("Origin"), hosts):
            raise Refused(Code.FORBIDDEN, "pages of other sites may not call a server with --dev")

    @app.before_request
    async def preflight() -> Response | None:
        # Not a route: one for every path would turn what is not found into a wrong method.
        if request.method != "OPTIONS" or not request.path.startswith("/api/"):
            return None
        response = Response("", 204)
        if origins.names(request.headers.get("Origin", "")):
            response.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE"
            response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            response.headers["Access-Control-Max-Age"] = "600"
        return response

    return app
