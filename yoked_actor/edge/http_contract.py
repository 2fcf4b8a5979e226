"""The contract, given out: two documents for programs and one page for people."""

from __future__ import annotations

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.edge.contract_page import contract_page, page_policy
from yoked_actor.edge.http_app import Doors
from yoked_actor.edge.http_pages import cacheable
from yoked_actor.wire.contract import asyncapi, openapi
from yoked_actor.wire.events import encode


def add_contract_calls(app: QuartTrio, doors: Doors) -> None:
    """`/openapi.json`, `/asyncapi.json` and `/docs`."""
    http, socket = openapi(doors.settings), asyncapi(doors.settings)
    http_text, socket_text = encode(http).decode(), encode(socket).decode()
    page, policy = contract_page(http, socket), page_policy()

    @app.get("/openapi.json")
    async def openapi_document() -> Response:
        return await cacheable(http_text, "application/json")

    @app.get("/asyncapi.json")
    async def asyncapi_document() -> Response:
        return await cacheable(socket_text, "application/json")

    @app.get("/docs")
    async def docs() -> Response:
        return await cacheable(page, "text/html", policy=policy)
