"""Serves the contract: two documents for programs, one page for people."""

from __future__ import annotations

import json
from functools import lru_cache

import trio
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
    """Both documents and the page, of these settings: once for all servers of a process."""
    settings = Settings.model_validate(json.loads(stated))
    http, socket = openapi(settings, only), asyncapi(settings)
    return encode(http).decode(), encode(socket).decode(), contract_page(http, socket, dev=dev)


def add_contract_calls(app: QuartTrio, api: Api, *, has_mock_clock: bool) -> None:
    """`/openapi.json`, `/asyncapi.json` and `/docs`."""
    policy = page_policy(dev=api.dev)
    only: list[Condition] = ["always"]
    if api.dev:
        only += ["dev", "mock_clock"] if has_mock_clock else ["dev"]
    one_at_a_time = trio.Lock()
    rendered: dict[str, tuple[str, str, str]] = {}

    async def current() -> tuple[str, str, str]:
        # Rendered at the first request, and again when a reload has changed what they state.
        stated = api.settings.model_dump_json(include=_STATED)
        async with one_at_a_time:
            if stated not in rendered:
                rendered.clear()
                rendered[stated] = await render(stated)
            return rendered[stated]

    async def render(stated: str) -> tuple[str, str, str]:
        if has_mock_clock:
            # The clock would jump while a thread works.
            return _documents(stated, tuple(only), api.dev)
        # It takes a quarter of a second, in which others are served.
        return await trio.to_thread.run_sync(_documents, stated, tuple(only), api.dev)

    @app.get("/openapi.json")
    async def openapi_document() -> Response:
        return await cacheable((await current())[0], "application/json")

    @app.get("/asyncapi.json")
    async def asyncapi_document() -> Response:
        return await cacheable((await current())[1], "application/json")

    @app.get("/docs")
    async def docs() -> Response:
        return await cacheable((await current())[2], "text/html", policy=policy)
