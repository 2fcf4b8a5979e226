"""The operator console: its page, and the calls that only the console uses."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code, Refusal
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.ops import Role
from yoked_actor.domain.people import is_user_id
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.pages import CONSOLE, cacheable, modules_below, policy_of, render
from yoked_actor.edge.http.parameters import read_limit
from yoked_actor.store import Calendar
from yoked_actor.wire.common import Changed
from yoked_actor.wire.ops import console as http
from yoked_actor.wire.people import BlockBody


def add_console_calls(app: QuartTrio, api: Api, calendar: Calendar) -> None:
    """`/admin`, and below `/api/admin` the list of zone runs and blocks on behalf of a user."""
    page = render("admin.html", dev=api.dev, modules=modules_below("/admin/"))

    @app.get(CONSOLE)
    async def console() -> Response:
        return await cacheable(page, "text/html", policy=policy_of(api))

    @app.get("/api/admin/offers/runs")
    async def offer_runs() -> Response:
        await api.operator(Role.VIEWER)
        found = await calendar.runs(limit=read_limit())
        return answer(
            http.OfferRunsAnswer(
                [
                    http.OfferRunEntry(
                        one.run.zone,
                        one.run.day,
                        to_datetime(one.run.scheduled_at),
                        one.status,
                        one.job_id,
                    )
                    for one in found
                ]
            )
        )

    @app.post("/api/admin/users/<user_id>/block")
    async def block_for(user_id: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        other = (await read_body(BlockBody)).user_id
        if not is_user_id(user_id) or not is_user_id(other):
            raise Refused(Code.BAD_REQUEST, "user_id is not the id of a user")
        # The user need not be connected, so this is no sign of life.
        reply = await (await api.sessions.enter(user_id)).ask(ev.BlockFor(user_id, other))
        if isinstance(reply, Refusal):
            raise Refused(reply.code, reply.message)
        await api.record(session, "block", user_id, other)
        return answer(Changed(True))
