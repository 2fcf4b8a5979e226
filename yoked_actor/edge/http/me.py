"""Calls of users about themselves: export of their data, erasure, appeal, warnings."""

from __future__ import annotations

import math

import trio
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.people import Eraser
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.people import Appeal
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import number_of
from yoked_actor.store import NoSuchWarning, TooManyAppeals
from yoked_actor.wire.common import Empty
from yoked_actor.wire.people import moderation

_MOST_REMEMBERED = 10_000


def add_me_calls(app: QuartTrio, api: Api, eraser: Eraser) -> None:
    """`/api/me`, `/api/appeal` and `/api/warnings`."""
    exported_s: dict[str, float] = {}

    def take_turn(user_id: str) -> None:
        """Limit how often a user may export: an export reads long tables."""
        now_s, every_s = trio.current_time(), api.settings.privacy.export_every_s
        if exported_s.get(user_id, -math.inf) > now_s - every_s:
            raise Refused(Code.RATE_LIMITED, f"an export is made once in {every_s:g} s")
        exported_s.pop(user_id, None)
        exported_s[user_id] = now_s
        if len(exported_s) > _MOST_REMEMBERED:
            del exported_s[next(iter(exported_s))]

    @app.get("/api/me/export")
    async def export() -> Response:
        # A suspended user may still read what is stored about them.
        session = await api.caller(even_suspended=True)
        take_turn(session.user_id)
        with trio.move_on_after(api.settings.edge.request_timeout_s):
            found = await api.store.privacy.export(session.user_id, api.clock.now())
            response = answer(found)
            response.headers["Content-Disposition"] = 'attachment; filename="my-data.json"'
            return response
        exported_s.pop(session.user_id, None)
        raise Refused(Code.INTERNAL, "the export took too long; try again later")

    @app.post("/api/appeal")
    async def appeal() -> Response:
        session = await api.caller(even_suspended=True)
        body = await read_body(moderation.AppealBody)
        if api.sessions.suspensions.of(session.user_id) is None:
            raise Refused(Code.WRONG_STATE, "you are not suspended: there is nothing to appeal")
        appeal = Appeal(session.user_id, body.text, api.clock.now())
        try:
            await api.store.add_appeal(appeal, api.settings.safety.appeal_every_s)
        except TooManyAppeals as error:
            why = "your appeal is with the operator; you can make another one tomorrow"
            raise Refused(Code.RATE_LIMITED, why, retry_after_s=error.wait_s) from None
        return answer(Empty(), 202)

    @app.get("/api/warnings")
    async def warnings() -> Response:
        session = await api.present()
        entries = [
            moderation.WarningEntry(one.warning_id, one.text, to_datetime(one.at))
            for one in await api.store.moderation.unseen((session.user_id,))
        ]
        return answer(moderation.WarningsAnswer(entries))

    @app.post("/api/warnings/<warning_id>/seen")
    async def warning_seen(warning_id: str) -> Response:
        session = await api.present()
        number = number_of(warning_id[1:]) if warning_id.startswith("w") else None
        if number is None:
            raise Refused(Code.NOT_FOUND, "you have no such warning")
        try:
            await api.store.moderation.see(session.user_id, number, api.clock.now())
        except NoSuchWarning as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        return answer(Empty())

    @app.delete("/api/me")
    async def erase() -> Response:
        session = await api.caller()
        with trio.move_on_after(api.settings.edge.request_timeout_s):
            await eraser.erase(session.user_id)
            exported_s.pop(session.user_id, None)
            return Response("", 204)
        raise Refused(Code.INTERNAL, "no answer in time; it may still be done: ask again")
