"""Serves the web client and the files of the console from the package.

Browsers revalidate each file and download it only when it has changed. The web client is one page
under many addresses; its script picks the view. The Content-Security-Policy allows own files only.
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
from werkzeug.exceptions import NotFound

from yoked_actor.domain.lobby import Code
from yoked_actor.edge.http.api import Api, Refused, problem
from yoked_actor.settings import MatchingSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self'; media-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none';"
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
    "/met",
    "/rooms",
    "/settings",
)
"""The addresses of the web client."""
CONSOLE = "/admin"
"""The address of the operator console."""

FOLDERS = ("app", "admin")
"""The folders that are served: the web client's and the console's."""
_KINDS = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}


class Asset(msgspec.Struct, frozen=True):
    """A file that a page loads."""

    text: str
    kind: str


def add_page_calls(app: QuartTrio, api: Api) -> None:
    """Add the routes of the web client and of all files that pages load."""
    matching = api.settings.matching
    page = render(
        "index.html",
        dev=api.dev,
        genders=matching.genders,
        max_interests=matching.max_interests,
        vote_window_s=f"{matching.vote_window_s:g}",
        offers_at=api.settings.offers.at,
        hops=api.settings.node.hops,
        date_length_s=f"{matching.date_length_s:g}",
        tiers=_tiers(matching),
        met_days=f"{api.settings.date.met_days:g}",
        modules=["/yoked.js", *modules_below("/app/")],
    )

    async def index() -> Response:
        response = await cacheable(page, "text/html", policy=policy_of(api))
        response.headers["Permissions-Policy"] = PERMISSIONS
        return response

    @app.errorhandler(NotFound)
    async def not_found(error: NotFound) -> Response:
        # A person who follows a wrong link gets a page with a way back; programs get a problem.
        is_asked_by_person = "text/html" in request.headers.get("Accept", "")
        if request.method != "GET" or not is_asked_by_person or request.path.startswith("/api/"):
            return problem(Code.NOT_FOUND, error.description or error.name)
        response = await index()
        response.status_code = 404
        return response

    for address in ADDRESSES:
        app.add_url_rule(address, f"page {address}", index, methods=["GET"])

    async def asset(name: str = "") -> Response:
        # The path is a key of the assets found at the start, never a file name.
        found = assets().get(request.path)
        if found is None:
            raise Refused(Code.NOT_FOUND, "there is no such file")
        return await cacheable(found.text, found.kind)

    app.add_url_rule("/yoked.js", "yoked.js", asset, methods=["GET"])
    for folder in FOLDERS:
        app.add_url_rule(f"/{folder}/<path:name>", folder, asset, methods=["GET"])


def policy_of(api: Api) -> str:
    """The policy of a page. With several nodes it may speak to those that serve other rooms."""
    if api.directory is None:
        return POLICY
    urls = sorted(api.directory.urls)
    sources = ["'self'", *urls, *(url.replace("http", "ws", 1) for url in urls)]
    return POLICY.replace("connect-src 'self'", f"connect-src {' '.join(sources)}")


def _tiers(matching: MatchingSettings) -> str:
    """How the search widens, for the text of the profile page: seconds, years and factors."""
    numbers = (
        *(matching.tier2_after_s, matching.tier2_years, matching.tier2_distance),
        *(matching.tier3_after_s, matching.tier3_years, matching.tier3_distance),
        matching.forced_after_s,
    )
    return ",".join(f"{number:g}" for number in numbers)


@cache
def assets() -> dict[str, Asset]:
    """The files that the web client and the console load, by address."""
    pages = files("yoked_actor.edge") / "pages"
    found = {"/yoked.js": Asset((pages / "yoked.js").read_text("utf-8"), _KINDS[".js"])}
    for folder in FOLDERS:
        for path, file in _files_below(pages / folder, f"/{folder}"):
            kind = _KINDS.get(path[path.rindex(".") :])
            if kind is not None:
                found[path] = Asset(file.read_text("utf-8"), kind)
    return found


def modules_below(folder: str) -> list[str]:
    """The JavaScript modules of a folder, for the page to preload."""
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
    """The text of a file in the folder of pages."""
    return (files("yoked_actor.edge") / "pages" / name).read_text("utf-8")


def render(name: str, **values: Any) -> str:
    """Render a page; values are escaped."""
    return _templates().get_template(name).render(values)


@cache
def _templates() -> jinja2.Environment:
    """Keeps compiled templates: a process may open many servers, as tests do."""
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(page_file),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


async def cacheable(text: str, kind: str, *, policy: str | None = None) -> Response:
    """A response that clients may cache, but must revalidate each time."""
    content_type = kind if kind == "application/json" else f"{kind}; charset=utf-8"
    response = Response(text, content_type=content_type)
    response.headers["Cache-Control"] = "no-cache"
    response.headers["Referrer-Policy"] = "no-referrer"
    if policy is not None:
        response.headers["Content-Security-Policy"] = policy
    await response.add_etag()
    await response.make_conditional(request)
    return response
