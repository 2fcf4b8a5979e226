"""Calls of users: profile, spin, acknowledge, vote, block, report."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.lobby import Session
from yoked_actor.domain.lobby import Code, State, Vote, replies
from yoked_actor.domain.lobby import events as ev
from yoked_actor.domain.people import ProfileProblem, Report, is_user_id
from yoked_actor.domain.time import to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer, read_body
from yoked_actor.store import TooManyReports
from yoked_actor.wire.common import Empty, TimeAnswer
from yoked_actor.wire.lobby import http
from yoked_actor.wire.people import http as people_http


async def store_profile(
    api: Api, session: Session, profile: people_http.Profile
) -> people_http.Profile:
    """Check a profile and store it; returns it as stored."""
    matching = api.settings.matching
    try:
        person = people_http.person_of(
            session.user_id,
            profile,
            api.clock.now(),
            frozenset(matching.genders),
            matching.max_interests,
        )
    except ProfileProblem as problem:
        raise Refused(Code(problem.code), problem.message) from None
    await api.ask(session, ev.ProfileChanged(session.user_id, person))
    return people_http.profile_of(person)


def add_profile_calls(app: QuartTrio, api: Api) -> None:
    """`/api/profile`."""

    @app.put("/api/profile")
    async def put_profile() -> Response:
        session = await api.caller()
        profile = await read_body(people_http.Profile)
        return answer(await store_profile(api, session, profile))

    @app.get("/api/profile")
    async def get_profile() -> Response:
        session = await api.caller()
        await api.ask(session, ev.AskSnapshot(session.user_id))
        person = await api.store.load_person(session.user_id)
        if person is None:
            raise Refused(Code.NOT_FOUND, "there is no profile yet")
        return answer(people_http.profile_of(person))


def add_match_calls(app: QuartTrio, api: Api) -> None:
    """Spin, leave, acknowledge, vote, status and explain."""

    @app.post("/api/spin")
    async def spin() -> Response:
        session = await api.caller()
        if api.is_draining:
            raise Refused(Code.DRAINING, "the server is about to stop; come back soon")
        reply = await api.ask(session, ev.Spin(session.user_id))
        assert isinstance(reply, replies.SpinReply)
        matched = reply.state is State.MATCHED
        return answer(http.SpinAnswer(True, reply.state, matched, reply.match_id))

    @app.post("/api/leave")
    async def leave() -> Response:
        session = await api.caller()
        reply = await api.ask(session, ev.Leave(session.user_id))
        assert isinstance(reply, replies.LeaveReply)
        return answer(http.StateAnswer(reply.state))

    @app.get("/api/explain")
    async def explain() -> Response:
        session = await api.caller()
        reply = await api.ask(session, ev.Explain(session.user_id))
        assert isinstance(reply, replies.Explanation)
        return answer(
            http.ExplainAnswer(
                reply.waiting_s,
                reply.tier,
                reply.next_tier_in_s,
                reply.pool,
                reply.rejected_by,
                reply.nearest,
                reply.strict,
            )
        )

    @app.get("/api/match/status")
    async def status() -> Response:
        session = await api.caller()
        reply = await api.ask(session, ev.AskSnapshot(session.user_id))
        assert isinstance(reply, replies.Snapshot)
        return answer(session.show(reply, api.clock.now()))

    @app.post("/api/match/acknowledge")
    async def acknowledge() -> Response:
        session = await api.caller()
        body = await read_body(http.AcknowledgeBody)
        reply = await api.ask(session, ev.Acknowledge(session.user_id, body.match_id))
        assert isinstance(reply, replies.AcknowledgeReply)
        vote_by = None if reply.vote_by is None else to_datetime(reply.vote_by)
        return answer(http.AcknowledgeAnswer(reply.state, vote_by))

    @app.post("/api/vote")
    async def vote() -> Response:
        session = await api.caller()
        body = await read_body(http.VoteBody)
        event = ev.Vote(session.user_id, body.match_id, Vote(body.vote))
        reply = await api.ask(session, event)
        assert isinstance(reply, replies.VoteReply)
        return answer(http.VoteAnswer(reply.outcome, reply.outcome is None))

    @app.post("/api/date/end")
    async def end_date() -> Response:
        session = await api.caller()
        body = await read_body(http.EndDateBody)
        await api.ask(session, ev.EndDate(session.user_id, body.date_id))
        return answer(Empty())

    @app.post("/api/heartbeat")
    async def heartbeat() -> Response:
        session = await api.caller()
        await api.ask(session, ev.SignOfLife(session.user_id))
        return answer(TimeAnswer(to_datetime(api.clock.now())))


def add_safety_calls(app: QuartTrio, api: Api) -> None:
    """Blocks and reports."""

    @app.post("/api/blocks")
    async def block() -> Response:
        session = await api.caller()
        body = await read_body(people_http.BlockBody)
        await api.ask(session, ev.Block(session.user_id, body.user_id))
        return answer(Empty())

    @app.delete("/api/blocks/<user_id>")
    async def unblock(user_id: str) -> Response:
        session = await api.caller()
        await api.ask(session, ev.Unblock(session.user_id, user_id))
        return answer(Empty())

    @app.get("/api/blocks")
    async def blocks() -> Response:
        session = await api.caller()
        reply = await api.ask(session, ev.ListBlocks(session.user_id))
        assert isinstance(reply, replies.BlockList)
        entries = []
        for who, at in reply.blocks.items():
            person = await api.store.load_person(who)
            name = None if person is None else person.display_name
            entries.append(people_http.BlockEntry(who, to_datetime(at), name))
        return answer(people_http.BlocksAnswer(entries))

    @app.post("/api/reports")
    async def add_report() -> Response:
        session = await api.caller()
        body = await read_body(people_http.ReportBody)
        if not is_user_id(body.user_id):
            raise Refused(Code.BAD_REQUEST, "user_id is not the id of a user")
        await api.ask(session, ev.SignOfLife(session.user_id))
        now, limits = api.clock.now(), api.sessions.context.report_limits()
        report = Report(session.user_id, body.user_id, body.reason, body.match_id, now)
        try:
            await api.store.add_report(report, limits)
        except TooManyReports as error:
            raise Refused(Code.RATE_LIMITED, str(error)) from None
        return answer(Empty(), 201)
