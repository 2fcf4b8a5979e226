"""Waiting users, the state of a user, and open matches, for operators.

All of it is read between two steps of the loop, from the lobby's own memory, as far as it is
stored: what a failed commit would undo does not show.
"""

from __future__ import annotations

from heapq import nlargest, nsmallest

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code, Seat, SettledView
from yoked_actor.domain.people import age_at, is_user_id
from yoked_actor.domain.time import seconds_between, to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer
from yoked_actor.edge.http.parameters import read_limit
from yoked_actor.wire.ops import http


def add_admin_lobby_calls(app: QuartTrio, api: Api, view: SettledView) -> None:
    """`/api/admin/queue`, `/api/admin/users/...` and `/api/admin/matches`."""

    @app.get("/api/admin/queue")
    async def queue() -> Response:
        await api.operator()
        limit, now = read_limit(), api.clock.now()
        first = nsmallest(limit, view.tickets(), key=lambda one: (one.waiting_since, one.user_id))
        longest = [
            http.WaitingEntry(one.user_id, seconds_between(one.waiting_since, now), one.tier)
            for one in first
        ]
        return answer(http.QueueAnswer(view.waiting(), longest))

    @app.get("/api/admin/users/<user_id>")
    async def user(user_id: str) -> Response:
        await api.operator()
        if not is_user_id(user_id):
            raise Refused(Code.NOT_FOUND, "there is no such user")
        known = None if view.seat(user_id) is not None else await api.store.load_user(user_id)
        now, seat = api.clock.now(), view.seat(user_id)
        if seat is not None:
            person, blocks = view.person(user_id), view.count_blocks(user_id)
        elif known is not None and (known.person is not None or known.seat is not None):
            person, blocks = known.person, len(known.blocks)
        else:
            raise Refused(Code.NOT_FOUND, "there is no such user")
        shown = seat or (known and known.seat) or Seat(user_id)
        since = shown.waiting_since
        return answer(
            http.UserAnswer(
                user_id=user_id,
                in_memory=seat is not None,
                connected=api.sessions.is_connected(user_id),
                online=view.is_online(user_id, now),
                display_name=None if person is None else person.display_name,
                age=None if person is None else age_at(person, now),
                gender=None if person is None else person.gender,
                time_zone=None if person is None else person.time_zone,
                state=shown.state,
                credit=shown.credit,
                waiting_since=None if since is None else to_datetime(since),
                match_id=shown.match_id,
                date_id=shown.date_id,
                last_match_id=shown.last_match_id,
                blocks=blocks,
            )
        )

    @app.get("/api/admin/matches")
    async def matches() -> Response:
        await api.operator()
        limit = read_limit()
        found = view.open_matches()
        newest = nlargest(limit, found, key=lambda one: (one.paired_at, int(one.match_id[1:])))
        return answer(
            http.MatchesAnswer(
                len(found),
                [
                    http.MatchEntry(
                        one.match_id,
                        list(one.users),
                        one.status,
                        to_datetime(one.paired_at),
                        None if one.closes_at is None else to_datetime(one.closes_at),
                    )
                    for one in newest
                ],
            )
        )
