"""The API reference: search, links, trying calls, and accessibility."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looks import AUDIT
from tests.browser.pages import LAPTOP, PHONE, Person

SIZES = {"laptop": LAPTOP, "phone": PHONE}


def test_a_search_leaves_what_it_finds(new_person: Callable[..., Person]) -> None:
    olga = new_person("olga")
    page = olga.page
    page.goto(olga.server.url + "/docs")
    vote = page.locator("section[aria-labelledby=post_vote]")
    spin = page.locator("section[aria-labelledby=post_spin]")
    page.get_by_label("Search").fill("already_voted")
    expect(vote).to_be_visible()
    expect(spin).to_be_hidden()
    expect(page.get_by_role("heading", name="Events")).to_be_hidden()
    expect(page.locator("#found")).to_contain_text("found")
    page.get_by_label("Search").fill("no such thing")
    expect(page.locator("#found")).to_have_text("0 entries found.")
    # A link to what the search hides ends the search.
    page.evaluate("location.hash = '#post_spin'")
    expect(spin).to_be_visible()


def test_every_call_has_a_link_and_its_problems(new_person: Callable[..., Person]) -> None:
    olga = new_person("olga")
    page = olga.page
    page.goto(olga.server.url + "/docs#post_vote")
    vote = page.locator("section[aria-labelledby=post_vote]")
    expect(vote.get_by_role("link", name="Link to POST /api/vote")).to_be_visible()
    expect(vote.get_by_role("link", name="vote_closed")).to_be_visible()
    vote.get_by_role("link", name="vote_closed").click()
    expect(page.locator("#error-vote_closed")).to_be_in_viewport()


def test_a_call_is_tried_on_the_running_server(new_person: Callable[..., Person]) -> None:
    olga = new_person("olga")
    page = olga.page
    page.goto(olga.server.url + "/docs")
    page.locator("#try-user").fill("ana-tries")
    page.get_by_role("button", name="Log in").click()
    expect(page.locator("#try-status")).to_have_text("You are ana-tries.")
    profile = page.locator("section[aria-labelledby=put_profile]")
    profile.get_by_text("Try it").click()
    profile.get_by_role("button", name="Send PUT").click()
    expect(profile.locator(".try")).to_contain_text("200")
    expect(profile.locator(".try pre")).to_contain_text('"display_name": "Ana"')
    unblock = page.locator("section[aria-labelledby=delete_blocks_user_id]")
    unblock.get_by_text("Try it").click()
    unblock.get_by_role("textbox", name="user_id").fill("nobody")
    unblock.get_by_role("button", name="Send DELETE").click()
    expect(unblock.locator(".try pre")).to_contain_text("not_found")
    olga.problems.clear()  # Chromium logs a refused call.


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_reference_is_accessible(
    new_person: Callable[..., Person], axe: Path, scheme: str, size: str
) -> None:
    person = new_person("olga", viewport=SIZES[size], color_scheme=scheme, bypass_csp=True)
    page = person.page
    page.goto(person.server.url + "/docs")
    page.locator("section[aria-labelledby=put_profile]").get_by_text("Try it").click()
    person.shoot(f"api-reference-{scheme}-{size}")
    page.add_script_tag(path=axe)
    assert page.evaluate(AUDIT) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.title().endswith(" · Yoked")
