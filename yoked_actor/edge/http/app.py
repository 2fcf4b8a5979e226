"""The Quart app: error handlers, headers and checks that every call has in common."""

from __future__ import annotations

from collections.abc import Callable, Collection
from urllib.parse import quote

import msgspec
import structlog
from quart import Response, request
from quart.routing import QuartRule
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge

from yoked_actor.actors.lobby import RoomMoved, UserSuspended
from yoked_actor.actors.mailbox import MailboxFull
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import PROBLEM_TYPE, TITLES, Refused, problem
from yoked_actor.edge.net import Origins
from yoked_actor.settings import EdgeSettings
from yoked_actor.store import StoreUnavailable
from yoked_actor.wire.lobby import encode
from yoked_actor.wire.problems import STATUS, Problem

_log = structlog.get_logger()
_CODES = {400: Code.BAD_REQUEST, 404: Code.NOT_FOUND, 405: Code.BAD_REQUEST, 413: Code.TOO_LARGE}


class _Rule(QuartRule):
    """A rule that only matches. No URL is made from a rule here.

    werkzeug would compile two functions for each rule, which make URLs of it: that would be a third
    of the time in which a server opens.
    """

    def _compile_builder(self, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        return _make_no_url


def _make_no_url(rule: _Rule, **values: object) -> tuple[str, str]:
    raise NotImplementedError(f"no URL is made from {rule.rule}")


class _App(QuartTrio):
    url_rule_class = _Rule  # type: ignore[assignment]


def create_app(
    edge: EdgeSettings, *, dev: bool = False, nodes: Collection[str] = frozenset()
) -> QuartTrio:
    """An app without calls; each feature adds its own. `nodes` has the URLs of other nodes."""
    app = _App("yoked_actor", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = edge.max_body_bytes
    app.config["BODY_TIMEOUT"] = edge.request_timeout_s
    app.config["RESPONSE_TIMEOUT"] = edge.request_timeout_s
    app.config["PROVIDE_AUTOMATIC_OPTIONS"] = False
    # Merging slashes would redirect to whatever host the request names.
    app.url_map.merge_slashes = False
    origins = Origins(edge.allowed_origins, local_only=dev, nodes=nodes)
    # Not with --dev: browsers would apply it to every other server on localhost too.
    hsts = None if dev or not edge.hsts_max_age_s else f"max-age={edge.hsts_max_age_s:.0f}"

    @app.errorhandler(Refused)
    async def refused(error: Refused) -> Response:
        return problem(error.code, error.message, retry_after_s=error.retry_after_s)

    @app.errorhandler(UserSuspended)
    async def suspended(error: UserSuspended) -> Response:
        code, found = Code.SUSPENDED, error.suspension
        until = None if found.until is None else to_datetime(found.until)
        body = Problem(STATUS[code], TITLES[code], str(error), code, found.reason, until)
        return Response(encode(body), STATUS[code], content_type=PROBLEM_TYPE)

    @app.errorhandler(RoomMoved)
    async def moved(error: RoomMoved) -> Response:
        if error.url is None:
            return problem(Code.INTERNAL, str(error), 503)
        body = Problem(STATUS[Code.MOVED], TITLES[Code.MOVED], str(error), Code.MOVED)
        body = msgspec.structs.replace(body, url=error.url)
        response = Response(encode(body), STATUS[Code.MOVED], content_type=PROBLEM_TYPE)
        query = request.query_string.decode("ascii", "replace")
        path = quote(request.path, safe="/:@!$&'()*+,;=~")
        response.headers["Location"] = error.url + path + (f"?{query}" if query else "")
        return response

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
        # Its traceback refers to the request: a cycle, and the garbage collector runs rarely.
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
        elif edge.allowed_origins or nodes:
            response.headers["Vary"] = "Origin"
            if origin is not None and origins.names(origin):
                response.headers["Access-Control-Allow-Origin"] = origin
        return response

    @app.before_request
    async def one_path_each() -> None:
        # Quart removes leading slashes; a proxy whose rules name a path may not.
        if request.scope["path"].startswith("//"):
            raise NotFound

    @app.before_request
    async def only_from_here() -> None:
        if not dev:
            return
        hosts = request.headers.getlist("Host")
        if not origins.answer_to(hosts):
            raise Refused(Code.FORBIDDEN, "with --dev call it localhost or 127.0.0.1")
        if not origins.take(request.headers.getlist("Origin"), hosts):
            raise Refused(Code.FORBIDDEN, "pages of other sites may not call a server with --dev")

    @app.before_request
    async def preflight() -> Response | None:
        # Not a route: a route for every path would turn 404 into 405.
        if request.method != "OPTIONS" or not request.path.startswith("/api/"):
            return None
        response = Response("", 204)
        if origins.names(request.headers.get("Origin", "")):
            response.headers["Access-Control-Allow-Methods"] = "GET, POST, PUT, DELETE"
            response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type"
            response.headers["Access-Control-Max-Age"] = "600"
        return response

    return app
