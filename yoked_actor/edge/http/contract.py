"""Serves the contract: two documents for programs, one page for people."""

from __future__ import annotations

from functools import lru_cache

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.edge.http.api import Api
from yoked_actor.edge.http.contract_page import contract_page, page_policy
from yoked_actor.edge.http.pages import cacheable
from yoked_actor.wire.call import Condition
from yoked_actor.wire.contract import asyncapi, openapi
from yoked_actor.wire.lobby import encode


def add_contract_calls(app: QuartTrio, api: Api, *, has_mock_clock: bool) -> None:
    """`/openapi.json`, `/asyncapi.json` and `/docs`."""
    policy = page_policy(dev=api.dev)
    only: list[Condition] = ["always"]
    if api.dev:
        only += ["dev", "mock_clock"] if has_mock_clock else ["dev"]

    @lru_cache(maxsize=1)
    def documents(limits: str) -> tuple[str, str, str]:
        http, socket = openapi(api.settings, only), asyncapi(api.settings)
        return (
            encode(http).decode(),
            encode(socket).decode(),
            contract_page(http, socket, dev=api.dev),
        )

    def current() -> tuple[str, str, str]:
        # Rendered again after a reload has changed the limits.
        return documents(repr(api.settings.edge))

    current()

    @app.get("/openapi.json")
    async def openapi_document() -> Response:
        return await cacheable(current()[0], "application/json")

    @app.get("/asyncapi.json")
    async def asyncapi_document() -> Response:
        return await cacheable(current()[1], "application/json")

    @app.get("/docs")
    async def docs() -> Response:
        return await cacheable(current()[2], "text/html", policy=policy)
