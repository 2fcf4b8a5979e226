"""The pages: files of the package, given out so that a browser asks again but seldom loads again.

Every page comes with a policy that lets it run nothing but our own files.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

import jinja2
from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.edge.http_app import Doors

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_ASSETS = {"try.css": "text/css", "try.js": "text/javascript"}


def add_page_calls(app: QuartTrio, doors: Doors) -> None:
    """`/` to try the server out, and what that page loads."""
    page = render("index.html", dev=doors.dev, genders=doors.settings.matching.genders)

    @app.get("/")
    async def index() -> Response:
        return await cacheable(page, "text/html", policy=POLICY)

    def add_asset(name: str, kind: str) -> None:
        text = page_file(name)

        @app.get(f"/{name}", endpoint=name)
        async def asset() -> Response:
            return await cacheable(text, kind)

    for name, kind in _ASSETS.items():
        add_asset(name, kind)


@cache
def page_file(name: str) -> str:
    """The text of a file that belongs to the pages."""
    return (files("yoked_actor.edge") / "pages" / name).read_text("utf-8")


def render(name: str, **values: Any) -> str:
    """A page, with values in it; whatever they hold, they come out as text."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(page_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name).render(values)


async def cacheable(text: str, kind: str, *, policy: str | None = None) -> Response:
    """An answer that the client may keep, if it asks each time whether it is still good."""
    content_type = kind if kind == "application/json" else f"{kind}; charset=utf-8"
    response = Response(text, content_type=content_type)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Referrer-Policy"] = "no-referrer"
    if policy is not None:
        response.headers["Content-Security-Policy"] = policy
    await response.add_etag()
    await response.make_conditional(request)
    return response
