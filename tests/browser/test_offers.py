"""Daily offers, mutual accepts, and a date with a connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looks import Critic
from tests.browser.pages import PHONE, Caller, Person
from tests.process.server import ServerProcess, running_server

BEFORE_NINE_IN_BERLIN = "2026-01-01T07:59:00Z"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on a mock clock."""
    flags = ("--mock-clock", "--mock-clock-start", BEFORE_NINE_IN_BERLIN)
    with running_server(tmp_path_factory.mktemp("server") / "data", *flags) as server:
        yield server


def test_two_who_accept_each_other_can_start_a_date(
    new_person: Callable[..., Person], axe: Path
) -> None:
    ana, ben = new_person("ana", color_scheme="dark"), new_person("ben", viewport=PHONE)
    ana.has_profile(interests=["jazz", "climbing"])
    ben.has_profile(gender="man", seeking=["woman"], interests=["jazz", "night trains"])
    carl = Caller(ana.server, "carl", gender="man", seeking=["woman"], lat=52.6)
    critics = [Critic(ana, axe, "dark-laptop"), Critic(ben, axe, "light-phone")]
    for person in (ana, ben):
        person.arrive()
    ana.page.get_by_role("navigation").get_by_role("link", name="Offers").click()
    ana.reads("No offers right now. New ones arrive every day at 09:00, your time.")
    carl.call("POST", "/api/dev/clock/advance", {"seconds": 120})
    # The open page shows them; other pages show a notice.
    ana.reads("you both like jazz")
    expect(ana.page.get_by_role("article").get_by_role("heading")).to_have_text(["Ben", "Carl"])
    ben.sees_notice("Today's offers are here.")
    ben.page.get_by_role("link", name="View offers").click()
    ben.headed("Today's offers")
    ben.reads("Ana")
    for critic in critics:
        critic.looks("a-offers")
    ana.page.locator("#language").select_option("de")
    expect(ana.page.locator(".reasons").first).to_have_text("ihr mögt beide jazz · gleich alt")
    ana.page.locator("#language").select_option("en")

    ana.press("Decline Carl")
    ana.reads("You declined. They won't be told.")
    ana.press("Accept Ben")
    ana.reads("You accepted. If they accept too, you're connected.")
    ana.reload()
    ana.reads("You accepted.")
    expect(ana.page.get_by_role("button", name="Accept Ben")).to_have_count(0)
    ben.press("Accept Ana")
    ben.reads("You both said yes. You're connected.")
    # The card says so, too, to the one who accepted first.
    ana.reads("You both said yes. You're connected.")
    for me, other in ((ana, "Ben"), (ben, "Ana")):
        me.sees_notice(f"You and {other} both said yes. You're connected.")
        me.page.locator("#notice").get_by_role("link", name="View connections").click()
        me.headed("Connections")
        me.reads("Online")
    for critic in critics:
        critic.looks("b-connections")

    ben.press("Start a video date with Ana")
    ringing = ana.page.get_by_role("dialog", name="Ben is calling")
    ringing.get_by_role("button", name="Accept").click()
    for person in (ana, ben):
        person.at("/video-date")
        person.sees_video()
    ana.press("End date")
    for person in (ana, ben):
        person.at("/spin")


def test_no_connections_and_an_unreachable_server_are_explained(
    new_person: Callable[..., Person],
) -> None:
    ana = new_person("ana")
    ana.has_profile()
    ana.arrive()
    ana.open("/connections")
    ana.reads(
        "No connections yet. When you and someone else accept each other's offer, or both want to"
    )
    ana.page.route("**/api/offers", lambda route: route.abort())
    ana.page.get_by_role("navigation").get_by_role("link", name="Offers").click()
    ana.reads("Can't reach the server. Check your connection and try again.")
