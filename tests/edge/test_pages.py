"""The pages: the web client, the contract for people, and how they are served."""

from __future__ import annotations

import base64
import hashlib
import posixpath
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import yoked_actor
from tests.wire.captured import open_house
from yoked_actor.domain.jobs import JobStatus
from yoked_actor.domain.lobby import Code, DateEnd, IdleReason, Outcome
from yoked_actor.domain.ops import Alert
from yoked_actor.edge.http.contract_page import contract_page
from yoked_actor.edge.http.pages import ADDRESSES, CONSOLE, assets, render
from yoked_actor.settings import MatchingSettings
from yoked_actor.wire.close_codes import CLOSE_CODES
from yoked_actor.wire.contract import CALLS, ERRORS, asyncapi, openapi
from yoked_actor.wire.lobby.commands import COMMANDS
from yoked_actor.wire.lobby.events import EVENTS, EndReason

SERVED = {
    **dict.fromkeys([*ADDRESSES, CONSOLE, "/docs"], "text/html; charset=utf-8"),
    "/yoked.js": "text/javascript; charset=utf-8",
    "/app/main.js": "text/javascript; charset=utf-8",
    "/app/views/voting.js": "text/javascript; charset=utf-8",
    "/app/base.css": "text/css; charset=utf-8",
    "/app/icon.svg": "image/svg+xml; charset=utf-8",
    "/app/yoked.webmanifest": "application/manifest+json; charset=utf-8",
    "/app/texts/de.js": "text/javascript; charset=utf-8",
    "/admin/views/jobs.js": "text/javascript; charset=utf-8",
    "/admin/admin.css": "text/css; charset=utf-8",
    "/openapi.json": "application/json",
    "/asyncapi.json": "application/json",
}
PAGES = ["/", CONSOLE, "/docs"]
VIEWS = {
    *("now", "line", "matches", "rooms", "users", "reports", "jobs", "offers", "alerts", "quality"),
    *("objectives", "settings", "audit", "drain"),
}
SECTIONS = {f"{CONSOLE}#{view}" for view in VIEWS}
"""Where the console can be; its script makes them."""
VOID = {"meta", "link", "input", "br", "hr", "img"}


class Outline(HTMLParser):
    """What there is on a page: ids, links, levels of headings, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.levels: list[int] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.attributes.append((tag, found))
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "a":
            self.links.append(str(found["href"]))
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


async def fetch(path: str, *, dev: bool = True, **options: Any) -> tuple[Any, str]:
    async with open_house(dev=dev) as (server, _):
        answer = await server.edge.app.test_client().get(path, **options)
        return answer, await answer.get_data(as_text=True)


@pytest.mark.parametrize(("path", "content_type"), SERVED.items())
async def test_every_file_says_what_it_is(path: str, content_type: str) -> None:
    answer, text = await fetch(path)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == content_type
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert text


@pytest.mark.parametrize("path", SERVED)
async def test_a_browser_that_has_a_file_is_not_sent_it_again(path: str) -> None:
    async with open_house() as (server, _):
        client = server.edge.app.test_client()
        first = await client.get(path)
        assert first.headers["Cache-Control"] == "no-cache"
        again = await client.get(path, headers={"If-None-Match": first.headers["ETag"]})
        assert (again.status_code, await again.get_data()) == (304, b"")
        changed = await client.get(path, headers={"If-None-Match": '"another"'})
        assert changed.status_code == 200
        assert await changed.get_data()


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_may_run_nothing_but_our_own_files(path: str) -> None:
    answer, text = await fetch(path)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    for tag, attributes in Outline(text).attributes:
        assert not any(name == "style" or name.startswith("on") for name in attributes), tag
        if tag == "script" and path != "/docs":  # its inline scripts are known by their digests
            assert str(attributes["src"]).startswith("/")
        for name in ("src", "href"):
            assert "//" not in str(attributes.get(name)), attributes


async def test_the_contract_page_loads_nothing_at_all() -> None:
    answer, text = await fetch("/docs")
    policy = answer.headers["Content-Security-Policy"]
    scripts = re.findall(r"<script>\n?(.*?)</script>", text, re.DOTALL)
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert text.count("<script") == len(scripts) == 2
    assert not re.search(r'<link[^>]+href="(?!data:)', text)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in policy


async def test_the_contract_page_has_all_of_the_contract() -> None:
    _, text = await fetch("/docs")
    page = Outline(text)
    for command in COMMANDS:
        assert f"command-{command.__struct_config__.tag}" in page.ids
    for event in EVENTS:
        assert f"event-{event.__struct_config__.tag}" in page.ids
    for error in ERRORS:
        assert f"error-{error}" in page.ids
    for code in CLOSE_CODES:
        assert f"<code>{code}</code>" in text
    # This server runs on a real clock, which nobody can move.
    for call in CALLS:
        heading = f'<span class="verb">{call.method}</span> {call.path}</code>'
        assert (heading in text) == (call.only != "mock_clock"), heading


async def test_the_contract_page_lists_the_problems_of_every_call() -> None:
    _, text = await fetch("/docs")
    for call in CALLS:
        if not call.is_api or call.only == "mock_clock":
            continue
        start = text.index(f'data-method="{call.method}" data-path="{call.path}"')
        section = text[start : text.index("</section>", start)]
        for code in (*call.refusals, "internal"):
            assert f'<a href="#error-{code}"><code>{code}</code></a>' in section, call.path
        assert f'data-method="{call.method}"' in section
        assert 'class="here"' in section


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_well_formed_and_can_be_found_ones_way_in(path: str) -> None:
    _, text = await fetch(path)
    page = Outline(text)
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else link in {*SERVED, *SECTIONS}, link
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    deeper = zip(page.levels, page.levels[1:], strict=False)
    assert all(after <= before + 1 for before, after in deeper)
    assert '<html lang="en">' in text
    assert 'name="viewport"' in text


async def test_every_address_of_the_client_is_the_same_page() -> None:
    pages = {(await fetch(address))[1] for address in ADDRESSES}
    assert len(pages) == 1


async def test_the_page_says_what_its_script_must_know() -> None:
    def known(text: str) -> dict[str, str | None]:
        metas = (values for tag, values in Outline(text).attributes if tag == "meta")
        return {str(values["name"]): values["content"] for values in metas if "name" in values}

    of_dev, other = known((await fetch("/"))[1]), known((await fetch("/", dev=False))[1])
    assert (of_dev["yoked-dev"], other["yoked-dev"]) == ("yes", "no")
    assert of_dev["yoked-genders"] == "woman,man,nonbinary"
    assert of_dev["yoked-vote-window-s"] == "10"
    assert of_dev["yoked-offers-at"] == "09:00"
    assert of_dev["yoked-max-interests"] == "32"
    assert of_dev["yoked-date-length-s"] == "300"
    assert of_dev["yoked-met-days"] == "30"
    rules = MatchingSettings()
    assert str(of_dev["yoked-tiers"]).split(",") == [
        *(f"{rules.tier2_after_s:g}", f"{rules.tier2_years:g}", f"{rules.tier2_distance:g}"),
        *(f"{rules.tier3_after_s:g}", f"{rules.tier3_years:g}", f"{rules.tier3_distance:g}"),
        f"{rules.forced_after_s:g}",
    ]


@pytest.mark.parametrize(
    ("path", "accept", "kind"),
    [
        ("/nowhere", "text/html,application/xhtml+xml", "text/html"),
        ("/nowhere", "application/json", "application/problem+json"),
        ("/nowhere", "*/*", "application/problem+json"),
        ("/api/nowhere", "text/html", "application/problem+json"),
    ],
)
async def test_a_person_gets_a_page_for_an_unknown_address_and_a_program_a_problem(
    path: str, accept: str, kind: str
) -> None:
    answer, text = await fetch(path, headers={"Accept": accept})
    assert (answer.status_code, answer.mimetype) == (404, kind)
    assert ("/app/main.js" in text) == (kind == "text/html")


async def test_the_page_may_use_the_camera_and_no_other_page_may_borrow_it() -> None:
    answer, _ = await fetch("/video-date")
    assert answer.headers["Permissions-Policy"].startswith("camera=(self), microphone=(self)")


async def test_everything_that_the_page_and_its_modules_load_is_there() -> None:
    loaded = {
        str(values.get("src") or values.get("href"))
        for page in ("/", CONSOLE)
        for tag, values in Outline((await fetch(page))[1]).attributes
        if tag in ("script", "link", "img")
    }
    for path, asset in assets().items():
        folder = path.rpartition("/")[0]
        for name in re.findall(r"""(?:from|import|src:) "([./][^"]+)\"""", asset.text):
            loaded.add(name if name.startswith("/") else posixpath.normpath(f"{folder}/{name}"))
    assert "/app/views/voting.js" in loaded
    assert loaded <= set(assets())
    # And nothing is given out that nobody asks for.
    assert loaded == set(assets())


def test_the_files_are_found_in_a_package_that_is_an_archive(tmp_path: Path) -> None:
    root = Path(yoked_actor.__file__).parents[1]
    archive = shutil.make_archive(str(tmp_path / "all"), "zip", root, "yoked_actor")
    program = (
        "import yoked_actor; from yoked_actor.edge.http.pages import assets;"
        "print(yoked_actor.__file__); print(*assets())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": archive, "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    place, names = done.stdout.splitlines()
    assert place.startswith(archive)
    assert names.split() == list(assets())


async def test_only_the_files_that_are_meant_to_be_served_are() -> None:
    for path in (
        "/index.html",
        "/docs.html",
        "/docs.css",
        "/pages/yoked.js",
        "/app",
        "/app/",
        "/app/views",
        "/admin.html",
        "/admin/",
        "/admin/views",
        "/admin/../admin.html",
        "/app/../index.html",
        "/app/%2e%2e/index.html",
        "/app/..%2f..%2fhttp_app.py",
    ):
        answer, _ = await fetch(path)
        assert answer.status_code == 404, path


def test_what_a_value_holds_comes_out_as_text() -> None:
    names = (
        "dev",
        "modules",
        "max_interests",
        "vote_window_s",
        "offers_at",
        "hops",
        "date_length_s",
        "tiers",
        "met_days",
    )
    page = render("index.html", **dict.fromkeys(names, ""), genders=['"><script>alert(1)'])
    assert "<script>alert" not in page
    assert "&#34;&gt;&lt;script&gt;alert" in page


def test_the_contract_page_takes_no_markup_from_the_documents() -> None:
    document = openapi()
    document["paths"]["/api/spin"]["post"]["summary"] = "`<b>` <i>loud</i>"
    page = contract_page(document, asyncapi())
    assert "<code>&lt;b&gt;</code> &lt;i&gt;loud&lt;/i&gt;" in page


def test_the_client_listens_to_every_event_there_is() -> None:
    script = assets()["/app/app.js"].text
    for event in EVENTS:
        assert f'"{event.__struct_config__.tag}"' in script


@pytest.mark.parametrize(
    "value",
    [
        *Outcome,
        *EndReason,
        *IdleReason,
        *DateEnd,
        *(code for code in Code if code is not Code.BAD_REQUEST),
    ],
)
def test_there_are_words_for_everything_that_can_happen(value: str) -> None:
    spoken = {"underage", "forbidden", "not_found", "too_large", "suspended"}
    # These are told in the words of the server, which say more than a code.
    if value not in spoken:
        words = assets()["/app/words.js"].text + assets()["/app/texts/en.js"].text
        assert re.search(rf'\b{value}("|: ")', words)


@pytest.mark.parametrize("value", [*Alert, *JobStatus, *Outcome])
def test_the_console_has_words_for_what_it_shows(value: str) -> None:
    assert re.search(rf"\b{value}: ", assets()["/admin/words.js"].text)


def test_the_console_has_a_section_for_each_of_its_links() -> None:
    script = assets()["/admin/console.js"].text
    assert set(re.findall(r"(\w+): \w+View", script)) >= VIEWS
