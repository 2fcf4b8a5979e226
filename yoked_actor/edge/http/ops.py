"""Health, readiness and metrics."""

from __future__ import annotations

import trio
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.actors.nodes import nodes_part
from yoked_actor.actors.rooms import Registry
from yoked_actor.actors.supervisor import Supervisor
from yoked_actor.edge.http.api import Api, answer
from yoked_actor.store import DatabaseLost, StoreUnavailable
from yoked_actor.telemetry import CONTENT_TYPE, Metrics
from yoked_actor.wire.ops import http


def add_ops_calls(
    app: QuartTrio, api: Api, rooms: Registry, supervisor: Supervisor, metrics: Metrics
) -> None:
    """`/healthz`, `/readyz` and `/metrics`."""

    @app.get("/healthz")
    async def healthz() -> Response:
        return answer(http.Health("ok"))

    @app.get("/readyz")
    async def readyz() -> Response:
        degraded = [one.actor for one in supervisor.degraded()]
        nodes = None if api.directory is None else nodes_part(api.directory)
        if api.is_draining:
            return answer(http.Health("draining", degraded, nodes), 503)
        try:
            await api.store.ping()
        except DatabaseLost:
            return answer(http.Health("database_lost", degraded, nodes), 503)
        except StoreUnavailable:
            return answer(http.Health("store_unavailable", degraded, nodes), 503)
        if rooms.stalled:
            return answer(http.Health("store_unavailable", degraded, nodes), 503)
        return answer(http.Health("ok", degraded, nodes))

    @app.get("/metrics")
    async def exposed_metrics() -> Response:
        parts = []
        for part in metrics.expose_parts():
            parts.append(part)
            await trio.lowlevel.checkpoint()
        return Response(b"".join(parts), content_type=CONTENT_TYPE)
