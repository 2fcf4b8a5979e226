"""Daily offers and connections over HTTP."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.offers import UserOffers
from yoked_actor.domain.lobby import Code, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import read_day
from yoked_actor.wire.common import Empty
from yoked_actor.wire.lobby import offer_parts
from yoked_actor.wire.offers import http


def add_offer_calls(app: QuartTrio, api: Api, user_offers: UserOffers) -> None:
    """`/api/offers` and `/api/connections`."""

    @app.get("/api/offers")
    async def offers() -> Response:
        session = await api.caller()
        day = read_day("date")
        await api.ask(session, ev.SignOfLife(session.user_id))
        made = await user_offers.current(session.user_id, day)
        if made is None:
            return answer(http.OffersAnswer(None, ()))
        return answer(http.OffersAnswer(made.day, offer_parts(made.offers)))

    @app.post("/api/offers/<offer_id>/answer")
    async def answer_offer(offer_id: str) -> Response:
        session = await api.caller()
        body = await read_body(http.OfferAnswerBody)
        await api.ask(session, ev.SignOfLife(session.user_id))
        reply = await user_offers.answer(session.user_id, offer_id, body.answer)
        if isinstance(reply, replies.Refusal):
            raise Refused(reply.code, reply.message)
        assert isinstance(reply, replies.OfferAnswered)
        return answer(http.OfferAnswered(reply.connection_id))

    @app.get("/api/connections")
    async def connections() -> Response:
        session = await api.present()
        found = await user_offers.connections(session.user_id)
        return answer(
            http.ConnectionsAnswer(
                [
                    http.ConnectionEntry(
                        one.connection_id,
                        one.partner,
                        to_datetime(one.opened_at),
                        one.online,
                        one.source,
                    )
                    for one in found
                ]
            )
        )

    @app.post("/api/connections/<connection_id>/date")
    async def start_date(connection_id: str) -> Response:
        session = await api.caller()
        if api.is_draining:
            raise Refused(Code.DRAINING, "the server is about to stop; come back soon")
        await api.ask(session, ev.SignOfLife(session.user_id))
        partner = await user_offers.partner(session.user_id, connection_id)
        if partner is None:
            raise Refused(Code.NOT_FOUND, f"you have no connection {connection_id!r}")
        is_online = user_offers.is_online(partner)
        event = ev.StartDate(session.user_id, partner, connection_id, is_online)
        reply = await api.ask(session, event)
        assert isinstance(reply, replies.CallPlaced)
        return answer(http.CallAnswer(reply.call_id, to_datetime(reply.ring_until)))


def add_call_calls(app: QuartTrio, api: Api) -> None:
    """`/api/calls`."""

    @app.post("/api/calls/<call_id>/accept")
    async def accept_call(call_id: str) -> Response:
        session = await api.caller()
        reply = await api.ask(session, ev.AcceptCall(session.user_id, call_id))
        assert isinstance(reply, replies.DateOpened)
        return answer(http.DateAnswer(reply.date_id))

    @app.post("/api/calls/<call_id>/decline")
    async def decline_call(call_id: str) -> Response:
        session = await api.caller()
        await api.ask(session, ev.DeclineCall(session.user_id, call_id))
        return answer(Empty())

    @app.post("/api/calls/<call_id>/cancel")
    async def cancel_call(call_id: str) -> Response:
        session = await api.caller()
        await api.ask(session, ev.CancelCall(session.user_id, call_id))
        return answer(Empty())
