"""The buttons that matter are on the screen without scrolling, and nothing is clipped."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.pages import Caller, Person

SIZES: dict[str, ViewportSize] = {
    "low-laptop": {"width": 1366, "height": 650},
    "landscape": {"width": 844, "height": 390},
    "narrow": {"width": 320, "height": 568},
}
# Elements whose text is wider than they are, or that reach over the edge of the window.
CLIPPED = """
() => [...document.querySelectorAll("body *")].filter((element) => {
  const { left, right, width } = element.getBoundingClientRect();
  const { overflowX } = getComputedStyle(element);
  const exempt = ".sr-only, .skip, video, svg, .mark, .circling, #user-name";
  if (element.closest(exempt)) return false;
  if (!element.checkVisibility({ visibilityProperty: true })) return false;
  const wide = element.scrollWidth > element.clientWidth + 1;
  const cut = wide && overflowX !== "visible" && overflowX !== "auto";
  return width > 0 && (left < -1 || right > innerWidth + 1 || cut);
}).map((element) => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`)
"""


def nothing_is_clipped(page: Page) -> None:
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def all_visible(*elements: Locator) -> None:
    for element in elements:
        expect(element).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
@pytest.mark.parametrize("size", SIZES)
def test_the_device_check_before_the_first_date_fits_the_window(
    new_person: Callable[..., Person], size: str, locale: str
) -> None:
    ana = new_person("ana", is_new=True, viewport=SIZES[size], locale=locale)
    ana.has_profile()
    his_id = ana.user_id.replace("ana", "ben")
    ben = Caller(ana.server, his_id, gender="man", seeking=["woman"])
    ana.sign_in_by_token()
    ana.spin()
    match_id = ben.spin()
    ben.acknowledge(match_id)
    ana.page.get_by_role("button", name=re.compile("^(Yes|Ja)")).click()
    ben.vote(match_id, "yes")
    check = ana.page.locator(".first-check")
    join = check.get_by_role("button", name=re.compile("^(Join the date|Zum Date)$"))
    end = ana.page.get_by_role("button", name=re.compile("^(End date|Date beenden)$"))
    expect(check).to_contain_text(re.compile("Your microphone works|Dein Mikrofon funktioniert"))
    all_visible(check.locator("video"), check.get_by_role("meter"), join, end)
    nothing_is_clipped(ana.page)
    inside = """(check) => [...check.children].every((child) =>
      child.getBoundingClientRect().bottom <= check.getBoundingClientRect().bottom)"""
    assert check.evaluate(inside)
    ana.shoot(f"e-check-{size}-{locale}")
    join.click()
    expect(check).to_have_count(0)
    expect(ana.page.get_by_role("button", name=re.compile("^(Mute|Stumm)$"))).to_be_visible()


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
@pytest.mark.parametrize("size", SIZES)
def test_votes_and_the_end_of_a_date_need_no_scrolling(
    new_person: Callable[..., Person], size: str, locale: str
) -> None:
    german = locale == "de-DE"
    ana = new_person("ana", viewport=SIZES[size], locale=locale)
    ana.has_profile()
    ben = Caller(
        ana.server,
        ana.user_id.replace("ana", "ben"),
        gender="man",
        seeking=["woman"],
        interests=[f"interest number {number}" for number in range(32)],
    )
    ana.sign_in_by_token()
    ana.headed(re.compile("^Hallo, " if german else "^Hello, "))
    page = ana.page
    for path in ("/", "/profile", "/offers", "/settings", "/spin"):
        ana.open(path)
        page.get_by_role("heading", level=1).wait_for()
        nothing_is_clipped(page)
    ana.spin()
    ana.at("/spinning")
    nothing_is_clipped(page)
    match_id = ben.spin()
    ben.acknowledge(match_id)
    yes = page.get_by_role("button", name=re.compile("^(Yes|Ja)"))
    pass_ = page.get_by_role("button", name=re.compile("^Pass"))
    expect(yes).to_be_enabled()
    all_visible(yes, pass_, page.get_by_role("timer"), page.get_by_role("article").locator("h2"))
    nothing_is_clipped(page)
    ana.shoot(f"e-voting-{size}-{locale}")
    yes.click()
    ben.vote(match_id, "yes")
    ana.at("/video-date")
    expect(page.locator("video.own")).to_be_visible()
    names = (
        ("Stumm", "Kamera aus", "Date beenden") if german else ("Mute", "Camera off", "End date")
    )
    all_visible(*(page.get_by_role("button", name=name, exact=True) for name in names))
    nothing_is_clipped(page)
    ana.shoot(f"e-date-{size}-{locale}")
