"""Calls of a server with `--dev`: sign in as any user, and move the mock clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.clock import advance
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.people import is_user_id
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.user import store_profile
from yoked_actor.wire import dev
from yoked_actor.wire.common import TimeAnswer

if TYPE_CHECKING:
    from trio.testing import MockClock

T = TypeVar("T")


def add_dev_calls(app: QuartTrio, api: Api, mock: MockClock | None) -> None:
    """`/api/dev/login`, and `/api/dev/clock/advance` where the clock is a mock."""

    @app.post("/api/dev/login")
    async def login() -> Response:
        body = await _read_json(dev.LoginBody)
        if not api.tokens.can_sign:
            algorithm = api.settings.auth.algorithm
            why = f"tokens are signed elsewhere: auth.algorithm is {algorithm}"
            raise Refused(Code.FORBIDDEN, why)
        if not is_user_id(body.user_id):
            raise Refused(Code.BAD_REQUEST, "user_id has 1-64 of A-Z a-z 0-9 _ . : @ -")
        if body.profile is not None:
            session = await api.session_of(body.user_id)
            await store_profile(api, session, body.profile)
        ttl_s = api.settings.auth.dev_token_ttl_s
        token = api.tokens.sign(body.user_id, api.clock.now(), ttl_s)
        return answer(dev.LoginAnswer(token, body.user_id))

    if mock is None:
        return

    @app.post("/api/dev/clock/advance")
    async def advance_clock() -> Response:
        body = await _read_json(dev.AdvanceBody)
        await advance(mock, body.seconds)
        return answer(TimeAnswer(to_datetime(api.clock.now())))


async def _read_json(kind: type[T]) -> T:
    """The body, which must be sent as JSON: a page of another site cannot do that unasked."""
    if request.mimetype != "application/json":
        raise Refused(Code.BAD_REQUEST, "send it with Content-Type: application/json")
    return await read_body(kind)
