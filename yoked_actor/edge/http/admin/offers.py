"""Start, refreeze or verify a zone's run of offers, for operators."""

from __future__ import annotations

import trio
from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.actors.jobs import Dispatcher
from yoked_actor.actors.offers import Calendar, NoRun, NoSuchRun, refreeze, verify_run
from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import to_datetime, zone_named
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import read_day
from yoked_actor.store import NoSuchRun as NoSuchFrozenRun
from yoked_actor.wire.ops import http

MOST_FINDINGS = 1000


def add_admin_offer_calls(
    app: QuartTrio, api: Api, calendar: Calendar, dispatcher: Dispatcher, *, threads: bool
) -> None:
    """`/api/admin/offers/...`."""
    one_at_a_time = trio.CapacityLimiter(1)

    @app.post("/api/admin/offers/run")
    async def run() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.OfferRunBody)
        try:
            asked = await calendar.start_run(body.zone, body.date)
        except NoSuchRun as error:
            code = Code.NOT_FOUND if zone_named(body.zone) is None else Code.WRONG_STATE
            raise Refused(code, str(error)) from None
        if asked.is_new:
            dispatcher.wake()
            await api.record(session, "run_offers", body.zone, body.date.isoformat())
        at = to_datetime(asked.run.scheduled_at)
        return answer(
            http.OfferRunAnswer(asked.run.zone, asked.run.day, at, asked.status, asked.is_new)
        )

    @app.post("/api/admin/offers/refreeze")
    async def refreeze_run() -> Response:
        session = await api.operator(Role.ADMIN)
        body = await read_body(http.OfferRunBody)
        try:
            async with one_at_a_time:
                frozen = await refreeze(
                    api.store.offers, body.zone, body.date, api.settings, api.clock.now()
                )
        except NoSuchFrozenRun as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        dispatcher.wake()
        await api.record(session, "refreeze_offers", body.zone, body.date.isoformat())
        assert frozen.pool is not None
        users = sum(person.receives for person in frozen.pool.people)
        return answer(http.OfferRefreezeAnswer(body.zone, body.date, users, frozen.refrozen))

    @app.get("/api/admin/offers/verify")
    async def verify() -> Response:
        await api.operator(Role.VIEWER)
        zone, day = request.args.get("zone"), read_day("date")
        if zone is None or day is None:
            raise Refused(Code.BAD_REQUEST, "give a zone and a date")
        try:
            # One at a time: a large run takes long and needs much memory.
            async with one_at_a_time:
                verdict = await verify_run(api.store.offers, zone, day, threads=threads)
        except NoRun as error:
            raise Refused(Code.NOT_FOUND, str(error)) from None
        return answer(
            http.OfferVerifyAnswer(
                zone,
                day,
                verdict.sets,
                verdict.in_full,
                len(verdict.findings),
                verdict.findings[:MOST_FINDINGS],
                verdict.earlier,
            )
        )
