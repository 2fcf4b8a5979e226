"""Drain the server, as SIGTERM does."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from quart import Response
from quart_trio import QuartTrio

from yoked_actor.domain.ops import Role
from yoked_actor.edge.http.api import Api, answer
from yoked_actor.store import StoreUnavailable
from yoked_actor.wire.ops import http

_log = structlog.get_logger()


def add_admin_drain_calls(app: QuartTrio, api: Api, stop: Callable[[], None]) -> None:
    """`/api/admin/drain`; `stop` makes the process drain and exit."""

    @app.post("/api/admin/drain")
    async def drain() -> Response:
        session = await api.operator(Role.ADMIN)
        try:
            await api.record(session, "drain", "server")
        except StoreUnavailable:
            # A server that cannot store anything should still be able to stop.
            _log.warning("drain_not_recorded", by=session.user_id)
        stop()
        server = api.settings.server
        return answer(
            http.DrainAnswer("draining", server.drain_votes_s, server.reconnect_after_s), 202
        )
