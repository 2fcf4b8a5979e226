"""The quality report of matches, for operators."""

from __future__ import annotations

from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code
from yoked_actor.domain.ops import Role
from yoked_actor.domain.time import Instant, after, to_datetime
from yoked_actor.edge.http.api import Api, Refused, answer
from yoked_actor.edge.http.parameters import read_moment
from yoked_actor.wire.ops import http

DEFAULT_HOURS = 24.0
MOST_HOURS = 31 * 24.0


def add_admin_calls(app: QuartTrio, api: Api) -> None:
    """`/api/admin/quality`."""

    @app.get("/api/admin/quality")
    async def quality() -> Response:
        await api.operator(Role.VIEWER)
        now = api.clock.now()
        since = _since(now)
        report = await api.store.quality(since, api.settings.store.max_reported)
        return answer(
            http.QualityAnswer(
                to_datetime(since), to_datetime(now), report.matches, report.complete, report.groups
            )
        )


def _since(now: Instant) -> Instant:
    """The start of the report: the instant `since`, or `hours` before now."""
    hours, since = request.args.get("hours"), read_moment("since")
    if hours is not None and since is not None:
        raise Refused(Code.BAD_REQUEST, "give hours or since, not both")
    if since is not None:
        # Clamped first: an instant may be too far away for a `datetime`.
        return min(max(since, after(now, -3600 * MOST_HOURS)), now)
    try:
        length = DEFAULT_HOURS if hours is None else float(hours)
    except ValueError:
        raise Refused(Code.BAD_REQUEST, "hours is not a number") from None
    if not 0 < length <= MOST_HOURS:
        raise Refused(Code.BAD_REQUEST, f"hours must be over 0, up to {MOST_HOURS:g}")
    return after(now, -3600 * length)
