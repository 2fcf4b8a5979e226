"""The service objectives and how they are met, for operators."""

from __future__ import annotations

import trio
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.ops import Objective, Role
from yoked_actor.edge.http.api import Api, answer
from yoked_actor.telemetry import Objectives
from yoked_actor.wire.ops import objectives as http

WINDOWS_S = (300.0, 3600.0, 6 * 3600.0)


def add_objective_calls(app: QuartTrio, api: Api, kept: Objectives) -> None:
    """`/api/admin/objectives`."""

    @app.get("/api/admin/objectives")
    async def objectives() -> Response:
        await api.operator(Role.VIEWER)
        return answer(http.ObjectivesAnswer([_entry(kept, one) for one in Objective]))


def _entry(kept: Objectives, objective: Objective) -> http.ObjectiveEntry:
    now_s = trio.current_time()
    goal = kept.goal(objective)
    windows = []
    for window_s in WINDOWS_S:
        found = kept.since(objective, window_s, now_s)
        burn = found.burn(goal.target)
        windows.append(http.WindowEntry(window_s, found.good, found.bad, found.ratio, burn))
    return http.ObjectiveEntry(objective, goal.target, goal.limit_s, windows)
