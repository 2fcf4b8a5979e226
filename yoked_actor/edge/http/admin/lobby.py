"""Waiting users and open matches, for operators.

All of it is read between two steps of the loop, from the lobby's own memory, as far as it is
stored: what a failed commit would undo does not show.
"""

from __future__ import annotations

from heapq import nlargest, nsmallest

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import SettledView
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import seconds_between, to_datetime
from yoked_actor.edge.http.api import Api, answer
from yoked_actor.edge.http.parameters import read_limit
from yoked_actor.wire.ops import http


def add_admin_lobby_calls(app: QuartTrio, api: Api, view: SettledView) -> None:
    """`/api/admin/queue` and `/api/admin/matches`."""

    @app.get("/api/admin/queue")
    async def queue() -> Response:
        await api.operator(Role.VIEWER)
        limit, now = read_limit(), api.clock.now()
        first = nsmallest(limit, view.tickets(), key=lambda one: (one.waiting_since, one.user_id))
        longest = [
            http.WaitingEntry(one.user_id, seconds_between(one.waiting_since, now), one.tier)
            for one in first
        ]
        return answer(http.QueueAnswer(view.waiting(), longest))

    @app.get("/api/admin/matches")
    async def matches() -> Response:
        await api.operator(Role.VIEWER)
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
