"""Every page, light and dark, on a laptop and a phone: audited by axe-core, with screenshots."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.looks import Critic
from tests.browser.pages import LAPTOP, PATIENT, PHONE, Caller, Person
from tests.process.server import running_server

SIZES = {"laptop": LAPTOP, "phone": PHONE}


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    # The default vote window, for realistic screenshots.
    return PATIENT


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible(
    new_person: Callable[..., Person], axe: Path, scheme: str, size: str
) -> None:
    ana = new_person("ana", viewport=SIZES[size], color_scheme=scheme, reduced_motion="reduce")
    critic = Critic(ana, axe, f"{scheme}-{size}")
    ana.open()
    ana.headed("Meet someone now")
    critic.looks("1-sign-in")
    ana.sign_in()
    ana.headed("Tell us about yourself")
    ana.press("Save profile")
    ana.reads("Choose one.")
    critic.looks("2-profile-with-a-problem")
    ana.has_profile(interests=["jazz", "climbing", "old maps"])
    ana.reload()
    ana.headed("Your profile")
    expect(ana.page.get_by_label("Name")).to_have_value("Ana")
    critic.looks("2-profile")
    ana.open("/")
    ana.headed(re.compile("^Hello"))
    critic.looks("3-home")
    ana.open("/spin")
    ana.headed("Ready when you are")
    critic.looks("3-spin")
    for number in (1, 2):
        Caller(ana.server, f"zoe{number}-of-{ana.user_id}", seeking=["nonbinary"]).spin()
    ana.spin()
    ana.reads(re.compile(r"\d people and you aren't looking for each other\."))
    ana.reads("Looking slightly beyond your age and distance limits")
    critic.looks("4-spinning")
    ben = Caller(
        ana.server,
        ana.user_id.replace("ana", "ben"),
        gender="man",
        seeking=["woman"],
        interests=["jazz", "night trains", "cooking for friends"],
    )
    match_id = ben.spin()
    ana.at("/voting-window")
    ana.reads("Waiting for Ben to arrive…")
    critic.looks("5-matched")
    ben.acknowledge(match_id)
    ana.can_vote()
    critic.looks("6-voting")
    ana.vote("yes")
    ana.reads("Your vote is in.")
    critic.looks("7-voted")
    ben.vote(match_id, "yes")
    ana.at("/video-date")
    expect(ana.page.locator("video.own")).to_be_visible()
    critic.looks("8-date-alone")
    ana.press("Report")
    critic.looks("8-report")
    ana.page.keyboard.press("Escape")
    ana.press("End date")
    ana.sees_notice("You ended the date.")
    critic.looks("9-after-a-date")


def test_everything_works_with_the_keyboard(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana")
    ana.has_profile()
    page = ana.page
    ana.open()
    ana.headed("Meet someone now")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Your name")).to_be_focused()
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.type(ana.user_id)
    page.keyboard.press("Enter")
    ana.headed(re.compile("^Hello"))
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Spin")).to_be_focused()
    page.keyboard.press("Enter")
    ana.at("/spinning")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    ana.at("/spin")
    expect(page.locator("#live")).to_have_text(re.compile("You left the line"))


def test_a_phone_shows_card_clock_and_both_buttons_without_scrolling(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana", viewport=PHONE, has_touch=True, is_mobile=True)
    interests = [f"interest number {number}" for number in range(32)]
    ana.has_profile()
    ben_id = ana.user_id.replace("ana", "ben")
    ben = Caller(ana.server, ben_id, gender="man", seeking=["woman"], interests=interests)
    ana.arrive()
    ana.page.get_by_role("button", name="Spin").tap()
    ana.at("/spinning")
    ben.acknowledge(ben.spin())
    ana.can_vote()
    for element in (
        ana.page.get_by_role("timer"),
        ana.page.get_by_role("button", name=re.compile("^Yes")),
        ana.page.get_by_role("button", name=re.compile("^Pass")),
    ):
        expect(element).to_be_in_viewport(ratio=1)
    ana.page.get_by_role("button", name=re.compile("^Yes")).tap()
    ana.reads("Your vote is in.")


def test_without_dev_the_page_asks_for_a_token(
    tmp_path: Path, contexts: Callable[..., Any], axe: Path
) -> None:
    secret = "a secret that is long enough for HS256"
    with running_server(tmp_path / "data", dev=False, auth__secret=secret) as server:
        ana = Person(contexts(), server, "ana")
        critic = Critic(ana, axe, "light-laptop")
        ana.open()
        expect(ana.page.get_by_label("Your token")).to_be_visible()
        critic.looks("1-sign-in-by-token")
        ana.press("Sign in")
        ana.reads("Paste your token.")
        ana.page.get_by_label("Your token").fill("nonsense")
        ana.press("Sign in")
        ana.reads("Your sign-in is no longer valid. Please sign in again.")
