"""The pages: files of the package, given out so that a browser asks again but seldom loads again.

The web client is one page with many addresses: which of them is shown, its script decides by what
the server says. Every page comes with a policy that lets it run nothing but our own files.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import jinja2
import msgspec
from quart import Response, request
from quart_trio import QuartTrio

from yoked_actor.domain.lobby import Code
from yoked_actor.edge.http.api import Api, Refused

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
PERMISSIONS = "camera=(self), microphone=(self), geolocation=(self)"
ADDRESSES = (
    "/",
    "/profile",
    "/spin",
    "/spinning",
    "/voting-window",
    "/video-date",
    "/offers",
    "/connections",
)
"""Where the web client can be."""
CONSOLE = "/admin"
"""Where the operator's console is."""

FOLDERS = ("app", "admin")
"""Whose files are given out: those of the web client, and those of the console."""
_KINDS = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Asset(msgspec.Struct, frozen=True):
    """A file that a page loads."""

    text: str
    kind: str


def add_page_calls(app: QuartTrio, api: Api) -> None:
    """The web client, and what it loads."""
    matching = api.settings.matching
    page = render(
        "index.html",
        dev=api.dev,
        genders=matching.genders,
        max_interests=matching.max_interests,
        vote_window_s=f"{matching.vote_window_s:g}",
        offers_at=api.settings.offers.at,
        modules=["/yoked.js", *modules_below("/app/")],
    )

    async def index() -> Response:
        response = await cacheable(page, "text/html", policy=POLICY)
        response.headers["Permissions-Policy"] = PERMISSIONS
        return response

    for address in ADDRESSES:
        app.add_url_rule(address, f"page {address}", index, methods=["GET"])

    async def asset(name: str = "") -> Response:
        # Only what was found at the start is there: a path is a key here, never a file name.
        found = assets().get(request.path)
        if found is None:
            raise Refused(Code.NOT_FOUND, "there is no such file")
        return await cacheable(found.text, found.kind)

    app.add_url_rule("/yoked.js", "yoked.js", asset, methods=["GET"])
    for folder in FOLDERS:
        app.add_url_rule(f"/{folder}/<path:name>", folder, asset, methods=["GET"])


@cache
def assets() -> dict[str, Asset]:
    """Every file that the web client and the console load, by its address."""
    pages = files("yoked_actor.edge") / "pages"
    found = {"/yoked.js": Asset((pages / "yoked.js").read_text("utf-8"), _KINDS[".js"])}
    for folder in FOLDERS:
        for path, file in _files_below(pages / folder, f"/{folder}"):
            kind = _KINDS.get(path[path.rindex(".") :])
            if kind is not None:
                found[path] = Asset(file.read_text("utf-8"), kind)
    return found


def modules_below(folder: str) -> list[str]:
    """The modules of a folder of assets, which a page had better ask for at once."""
    scripts = (path for path, asset in assets().items() if asset.kind == _KINDS[".js"])
    return [path for path in scripts if path.startswith(folder)]


def _files_below(folder: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    for entry in sorted(folder.iterdir(), key=lambda one: one.name):
        inside = f"{path}/{entry.name}"
        if entry.is_dir():
            yield from _files_below(entry, inside)
        elif "." in entry.name:
            yield inside, entry


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
