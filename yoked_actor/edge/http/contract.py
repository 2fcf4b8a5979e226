"""Serves the contract: two documents for programs, one page for people."""

from __future__ import annotations

import json
from functools import lru_cache

from quart import Response
from quart_trio import QuartTrio

from yoked_actor.edge.http.api import Api
from yoked_actor.edge.http.contract_page import contract_page, page_policy
from yoked_actor.edge.http.pages import cacheable
from yoked_actor.settings import Settings
from yoked_actor.wire.call import Condition
from yoked_actor.wire.contract import asyncapi, openapi
from yoked_actor.wire.lobby import encode

_STATED: dict[str, bool | set[str]] = {
    "edge": True,
    "matching": True,
    "session": True,
    "date": {"signals_per_s", "signals_burst", "max_signal_bytes"},
}
"""The settings whose values the documents state. Secrets and what goes with them are not there."""


@lru_cache(maxsize=4)
def _documents(stated: str, only: tuple[Condition, ...], dev: bool) -> tuple[str, str, str]:
    """Both documents and the page, of these settings.

    It takes a quarter of a second, so it is done at the start and not at a request, and once for
    all servers of a process that have the same settings.
    """
    settings = Settings.model_validate(json.loads(stated))
    http, socket = openapi(settings, only), asyncapi(settings)
    return encode(http).decode(), encode(socket).decode(), contract_page(http, socket, dev=dev)


def add_contract_calls(app: QuartTrio, api: Api, *, has_mock_clock: bool) -> None:
    """`/openapi.json`, `/asyncapi.json` and `/docs`."""
    policy = page_policy(dev=api.dev)
    only: list[Condition] = ["always"]
    if api.dev:
        only += ["dev", "mock_clock"] if has_mock_clock else ["dev"]

    def current() -> tuple[str, str, str]:
        # Rendered again after a reload has changed what the documents state.
        stated = api.settings.model_dump_json(include=_STATED)
        return _documents(stated, tuple(only), api.dev)

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
