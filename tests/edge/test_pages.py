"""The pages: the one to try the server out on, the contract for people, and how they are served."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.wire.captured import open_house
from yoked_actor.edge.contract_page import contract_page
from yoked_actor.edge.http_pages import page_file, render
from yoked_actor.wire.commands import COMMANDS
from yoked_actor.wire.contract import CALLS, CLOSE_CODES, ERRORS, asyncapi, openapi
from yoked_actor.wire.events import EVENTS

SERVED = {
    "/": "text/html; charset=utf-8",
    "/docs": "text/html; charset=utf-8",
    "/try.css": "text/css; charset=utf-8",
    "/try.js": "text/javascript; charset=utf-8",
    "/openapi.json": "application/json",
    "/asyncapi.json": "application/json",
}
PAGES = ["/", "/docs"]
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
        answer = await server.app.test_client().get(path, **options)
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
        client = server.app.test_client()
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
        if tag == "script":
            assert str(attributes["src"]).startswith("/")
        for name in ("src", "href"):
            assert "//" not in str(attributes.get(name)), attributes


async def test_the_contract_page_loads_nothing_at_all() -> None:
    answer, text = await fetch("/docs")
    assert "<script" not in text
    assert not re.search(r'<link[^>]+href="(?!data:)', text)
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in answer.headers["Content-Security-Policy"]


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
    for call in CALLS:
        assert f'<span class="verb">{call.method}</span> {call.path}</code>' in text


@pytest.mark.parametrize("path", PAGES)
async def test_a_page_is_well_formed_and_can_be_found_ones_way_in(path: str) -> None:
    _, text = await fetch(path)
    page = Outline(text)
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else link in SERVED, link
    assert page.levels[0] == 1
    assert page.levels.count(1) == 1
    deeper = zip(page.levels, page.levels[1:], strict=False)
    assert all(after <= before + 1 for before, after in deeper)
    assert '<html lang="en">' in text
    assert 'name="viewport"' in text


async def test_without_dev_the_page_says_what_it_needs() -> None:
    _, text = await fetch("/", dev=False)
    assert "--dev" in text
    assert '<a href="/docs">' in text
    assert "<script" not in text
    assert "<form" not in text


async def test_the_genders_to_choose_from_are_those_of_the_settings() -> None:
    _, text = await fetch("/")
    assert text.count("<option>nonbinary</option>") == 2


async def test_only_the_files_that_are_meant_to_be_served_are() -> None:
    for path in ("/index.html", "/docs.html", "/docs.css", "/pages/try.js", "/../server.py"):
        answer, _ = await fetch(path)
        assert answer.status_code == 404, path


def test_what_a_value_holds_comes_out_as_text() -> None:
    page = render("index.html", dev=True, genders=["<script>alert(1)</script>"])
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_the_contract_page_takes_no_markup_from_the_documents() -> None:
    document = openapi()
    document["paths"]["/api/spin"]["post"]["summary"] = "`<b>` <i>loud</i>"
    page = contract_page(document, asyncapi())
    assert "<code>&lt;b&gt;</code> &lt;i&gt;loud&lt;/i&gt;" in page


def test_the_page_knows_every_event_that_it_must_follow() -> None:
    script = page_file("try.js")
    for event in EVENTS:
        assert f'case "{event.__struct_config__.tag}":' in script
