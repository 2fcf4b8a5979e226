"""For one's own machine only: be anybody, and move the mock clock."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.clock import advance
from yoked_actor.domain.instants import to_datetime
from yoked_actor.domain.notices import Code
from yoked_actor.domain.people import is_user_id
from yoked_actor.edge.http_app import Doors, Refused, answer, read_body
from yoked_actor.edge.http_user import store_profile
from yoked_actor.wire import http


def add_dev_calls(app: QuartTrio, doors: Doors) -> None:
    """`/api/dev/login`, and `/api/dev/clock/advance` where the clock is a mock."""

    @app.post("/api/dev/login")
    async def login() -> Response:
        body = await read_body(http.LoginBody)
        if not is_user_id(body.user_id):
            raise Refused(Code.BAD_REQUEST, "user_id has 1-64 of A-Z a-z 0-9 _ . : @ -")
        if body.profile is not None:
            session = await doors.session_of(body.user_id)
            await store_profile(doors, session, body.profile)
        ttl_s = doors.settings.auth.dev_token_ttl_s
        token = doors.tokens.sign(body.user_id, doors.clock.now(), ttl_s)
        return answer(http.LoginAnswer(token, body.user_id))

    mock = doors.mock_clock
    if mock is None:
        return

    @app.post("/api/dev/clock/advance")
    async def advance_clock() -> Response:
        body = await read_body(http.AdvanceBody)
        await advance(mock, body.seconds)
        return answer(http.TimeAnswer(to_datetime(doors.clock.now())))
