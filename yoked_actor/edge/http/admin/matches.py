"""One match, why it was made, and its end, for operators."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code, Refusal, SettledView
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.ops import Role
from yoked_actor.domain.people import MatchFacts
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.admin.reports import cards_of
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.edge.http.parameters import number_of
from yoked_actor.wire.common import Changed
from yoked_actor.wire.ops import matches as http


def add_admin_match_calls(app: QuartTrio, api: Api, view: SettledView) -> None:
    """`/api/admin/matches/...`."""

    async def facts_of(match_id: str) -> MatchFacts:
        number = number_of(match_id[1:]) if match_id.startswith("m") else None
        found = None if number is None else await api.store.moderation.match_facts(number)
        if found is None:
            raise Refused(Code.NOT_FOUND, "there is no such match")
        return found

    @app.get("/api/admin/matches/<match_id>")
    async def match(match_id: str) -> Response:
        await api.operator(Role.VIEWER)
        found = await facts_of(match_id)
        cards = await cards_of(api, (found.a, found.b), api.clock.now())
        sides = [
            http.SidePart(user_id, cards.get(user_id), group, tier, waited_s)
            for user_id, group, tier, waited_s in (
                (found.a, found.a_group, found.a_tier, found.a_wait_s),
                (found.b, found.b_group, found.b_tier, found.b_wait_s),
            )
        ]
        return answer(
            http.MatchAnswer(
                f"m{found.number}",
                found.status,
                to_datetime(found.paired_at),
                None if found.ended_at is None else to_datetime(found.ended_at),
                found.outcome,
                found.cancelled_for,
                sides,
                found.policy,
                found.preference_match,
                found.shown_km,
            )
        )

    @app.post("/api/admin/matches/<match_id>/end")
    async def end(match_id: str) -> Response:
        session = await api.operator(Role.MODERATOR)
        body = await read_body(http.EndMatchBody)
        found = [one for one in view.open_matches() if one.match_id == match_id]
        if not found:
            raise Refused(Code.NOT_FOUND, "there is no such open match")
        user_id = found[0].a
        reply = await (await api.sessions.enter(user_id)).ask(ev.EndMatch(user_id, match_id))
        if isinstance(reply, Refusal):
            raise Refused(reply.code, reply.message)
        await api.record(session, "end_match", match_id, body.reason)
        return answer(Changed(True))
