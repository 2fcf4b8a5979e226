"""For the operator: what the service promises, and how it keeps that."""

from __future__ import annotations

import trio
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.ops import Objective
from yoked_actor.edge.http.app import Doors, answer
from yoked_actor.wire.ops import objectives as http

WINDOWS_S = (300.0, 3600.0, 6 * 3600.0)


def add_objective_calls(app: QuartTrio, doors: Doors) -> None:
    """`/api/admin/objectives`."""

    @app.get("/api/admin/objectives")
    async def objectives() -> Response:
        await doors.operator()
        return answer(http.ObjectivesAnswer([_entry(doors, one) for one in Objective]))


def _entry(doors: Doors, objective: Objective) -> http.ObjectiveEntry:
    kept, now_s = doors.metrics.objectives, trio.current_time()
    goal = kept.goal(objective)
    windows = []
    for window_s in WINDOWS_S:
        found = kept.since(objective, window_s, now_s)
        burn = found.burn(goal.target)
        windows.append(http.WindowEntry(window_s, found.good, found.bad, found.ratio, burn))
    return http.ObjectiveEntry(objective, goal.target, goal.limit_s, windows)
