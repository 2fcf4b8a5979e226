"""Calls that ring, the device check before the first date, and reports that are not lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.looks import Critic
from tests.browser.pages import PHONE, Caller, Person, meet
from tests.process.server import ServerProcess, running_server

BEFORE_NINE_IN_BERLIN = "2026-01-01T07:59:00Z"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on a mock clock, whose days pass when a test says so."""
    flags = ("--mock-clock", "--mock-clock-start", BEFORE_NINE_IN_BERLIN)
    with running_server(tmp_path_factory.mktemp("server") / "data", *flags) as server:
        yield server


def connect_by_offers(server: ServerProcess) -> tuple[Caller, Caller]:
    """Two users with profiles who accept each other's offer."""
    ana = Caller(server, "ana-1", interests=["jazz"])
    ben = Caller(server, "ben-1", gender="man", seeking=["woman"], interests=["jazz"])
    ana.call("POST", "/api/dev/clock/advance", {"seconds": 120})
    for person in (ana, ben):
        [offer] = person.call("GET", "/api/offers")["offers"]
        person.call("POST", f"/api/offers/{offer['offer_id']}/answer", {"answer": "accept"})
    return ana, ben


def test_a_call_rings_and_can_be_declined_cancelled_missed_and_accepted(
    server: ServerProcess, contexts: Callable[..., object], axe: Path
) -> None:
    callers = connect_by_offers(server)
    new = contexts(is_new=True, viewport=PHONE)
    ana, ben = Person(contexts(), server, "ana-1"), Person(new, server, "ben-1")  # type: ignore[arg-type]
    critics = [Critic(ana, axe, "light-laptop"), Critic(ben, axe, "light-phone")]
    for person, caller in zip((ana, ben), callers, strict=True):
        person.token = caller.token
        person.sign_in_by_token()
        person.at_home()
    asked = "window.asked = 0; const ask = navigator.mediaDevices.getUserMedia;"
    ben.page.evaluate(
        f"() => {{ {asked} navigator.mediaDevices.getUserMedia = function (...given)"
        " { window.asked++; return ask.apply(this, given); }; }"
    )
    ana.page.get_by_role("navigation").get_by_role("link", name="Connections").click()
    ana.reads("Online")
    rings = ben.page.get_by_role("dialog", name="Ana is calling")
    calling = ana.page.get_by_role("dialog", name="Calling Ben…")

    def call() -> None:
        ana.press("Start a video date with Ben")
        expect(calling).to_be_visible()
        expect(rings).to_be_visible()

    call()
    rings.get_by_role("button", name="Accept").wait_for()
    for critic, name in zip(critics, ("g-calling", "g-ringing"), strict=True):
        critic.looks(name)
    rings.get_by_role("button", name="Decline").click()
    ana.sees_notice("Ben can't take your call now.")
    call()
    calling.get_by_role("button", name="Cancel call").click()
    expect(rings).to_have_count(0)
    ben.sees_notice("Ana has stopped calling.")
    call()
    callers[0].call("POST", "/api/dev/clock/advance", {"seconds": 20})
    ana.sees_notice("Ben didn't answer.")
    ben.sees_notice("You missed a call from Ana.")
    call()
    # No camera before the user accepts.
    assert ben.page.evaluate("asked") == 0
    rings.get_by_role("button", name="Accept").click()
    ben.at("/video-date")
    # Ben was never on a date: he sees himself before Ana does.
    ben.reads("Before your first date")
    expect(ben.page.locator("video.preview")).to_be_visible()
    ben.reads("Your microphone works.")
    critics[1].looks("g-device-check")
    ana.reads("Waiting for Ben to arrive…")
    ben.press("Join the date")
    for person in (ana, ben):
        person.sees_video()
    ben.press("Mute")
    ana.reads("Ben is muted")
    ana.shoot("g-partner-muted")
    ana.press("End date")


def test_a_report_survives_the_end_of_the_match_and_of_the_page(
    couple: tuple[Person, Person],
) -> None:
    ana, ben = couple
    meet(ana, ben)
    ana.press("Report")
    dialog = ana.page.get_by_role("dialog", name=f"Report {ben.name}?")
    dialog.get_by_label("What happened?").fill("Was rude")
    ben.press("Sign out")
    # The page below has changed; the dialog and its text are still there.
    expect(ana.page).to_have_url(re.compile("/spinning$"))
    expect(dialog.get_by_label("What happened?")).to_have_value("Was rude")
    ana.reload()
    ana.sees_notice(f"You have an unfinished report about {ben.name}.")
    ana.press("Continue the report")
    expect(dialog.get_by_label("What happened?")).to_have_value("Was rude")
    dialog.get_by_role("button", name="Send report").click()
    ana.sees_notice("Thank you. We've received your report.")
    stored = ana.server.read(f"SELECT reported, reason FROM reports WHERE reporter='{ana.user_id}'")
    assert stored == [(ben.user_id, "Was rude")]
    ana.reload()
    ana.at("/spinning")
    expect(ana.page.locator("#notice")).to_be_hidden()
