"""Recently met users, and "stay in touch?" after a date, over HTTP."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.contacts import MetView, UserContacts
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.lobby import replies
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.wire.contacts import http
from yoked_actor.wire.lobby import Ending


def add_contact_calls(app: QuartTrio, api: Api, contacts: UserContacts) -> None:
    """`/api/met` and `/api/dates`."""

    @app.get("/api/met")
    async def met() -> Response:
        session = await api.present()
        found = await contacts.met(session.user_id)
        return answer(http.MetAnswer([_entry(one) for one in found]))

    @app.post("/api/dates/<date_id>/stay_in_touch")
    async def stay_in_touch(date_id: str) -> Response:
        session = await api.caller()
        body = await read_body(http.TouchBody)
        await api.ask(session, ev.SignOfLife(session.user_id))
        reply = await contacts.stay_in_touch(session.user_id, date_id, body.answer)
        if isinstance(reply, replies.Refusal):
            raise Refused(reply.code, reply.message)
        assert isinstance(reply, replies.TouchAnswered)
        return answer(http.TouchAnswer(reply.connection_id))


def _entry(one: MetView) -> http.MetEntry:
    return http.MetEntry(
        match_id=one.match_id,
        partner=one.partner,
        at=to_datetime(one.at),
        outcome=Ending.CANCELLED if one.outcome is None else Ending(one.outcome),
        date_id=one.date_id,
        touch_until=None if one.touch_until is None else to_datetime(one.touch_until),
        connection_id=one.connection_id,
    )
