"""For those who run the server: health, readiness, metrics."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.edge.http.app import Doors, answer
from yoked_actor.store import DatabaseLost, StoreUnavailable
from yoked_actor.telemetry import CONTENT_TYPE
from yoked_actor.wire.people import http


def add_ops_calls(app: QuartTrio, doors: Doors) -> None:
    """`/healthz`, `/readyz` and `/metrics`."""

    @app.get("/healthz")
    async def healthz() -> Response:
        return answer(http.Health("ok"))

    @app.get("/readyz")
    async def readyz() -> Response:
        degraded = [one.actor for one in doors.supervisor.degraded()]
        if doors.sessions.context.draining:
            return answer(http.Health("draining", degraded), 503)
        try:
            await doors.store.ping()
        except DatabaseLost:
            return answer(http.Health("database_lost"), 503)
        except StoreUnavailable:
            return answer(http.Health("store_unavailable", degraded), 503)
        if doors.is_stalled():
            return answer(http.Health("store_unavailable", degraded), 503)
        return answer(http.Health("ok", degraded))

    @app.get("/metrics")
    async def metrics() -> Response:
        return Response(doors.metrics.expose(), content_type=CONTENT_TYPE)
