"""After a date: stay in touch? And the users whom a user has met recently."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.looks import Critic
from tests.browser.pages import PATIENT, Person, start_date
from tests.process.server import ServerProcess, running_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server on a mock clock, so that a date lasts as long as the test says."""
    with running_server(tmp_path_factory.mktemp("server") / "data", "--mock-clock") as server:
        yield server


@pytest.fixture
def dated(couple: tuple[Person, Person]) -> tuple[Person, Person]:
    """Two people whose date has ended after half a minute."""
    ana, ben = couple
    start_date(ana, ben)
    ana.advance(30)
    ana.press("End date")
    return ana, ben


def test_two_yeses_after_a_date_open_a_connection(dated: tuple[Person, Person], axe: Path) -> None:
    ana, ben = dated
    critic = Critic(ben, axe, "light-laptop")
    for me, other in (dated, dated[::-1]):
        me.headed(f"Stay in touch with {other.name}?")
    ana.shoot("h-stay-in-touch-light-laptop")
    ana.press("Yes, stay in touch")
    ana.sees_notice("Your yes is in. If Ben says yes too, you're connected.")
    # Ben decides later, on the page of recent meetings.
    ben.press("Decide later")
    ben.headed("Ready when you are")
    # A new page: the audit's script is added when a page opens.
    ben.open("/met")
    ben.reads("You had a video date.")
    critic.looks("h-recently-met")
    ben.press("Yes, stay in touch")
    ben.reads("You're connected.")
    for me, other in (dated, dated[::-1]):
        me.sees_notice(f"You and {other.name} both said yes. You're connected.")
        me.open("/connections")
        expect(me.page.get_by_role("article").get_by_role("heading")).to_have_text([other.name])


def test_a_no_is_not_told(dated: tuple[Person, Person]) -> None:
    ana, ben = dated
    ana.press("No, thank you")
    ana.sees_notice("Thank you. Ben won't be told.")
    ben.headed("Stay in touch with Ana?")
    ben.press("Yes, stay in touch")
    ben.sees_notice("Your yes is in.")
    ben.open("/connections")
    ben.reads("No connections yet.")


def test_a_person_can_be_reported_and_blocked_from_recent_meetings(
    dated: tuple[Person, Person],
) -> None:
    ana, ben = dated
    ana.press("Decide later")
    ana.page.get_by_role("link", name="Recently met").click()
    ana.press("Report Ben")
    dialog = ana.page.get_by_role("dialog")
    dialog.get_by_label("What happened?").fill("Was rude\nto the cat")
    dialog.get_by_role("button", name="Send report").click()
    ana.sees_notice("Thank you. We've received your report.")
    ana.press("Block Ben")
    ana.page.get_by_role("dialog").get_by_role("button", name="Block").click()
    ana.sees_notice("Ben is blocked.")
    ana.reads("You haven't met anyone")
    found = ana.server.read(f"SELECT reason FROM reports WHERE reported = '{ben.user_id}'")
    assert found == [("Was rude to the cat",)]
    expect(ben.page.locator("#notice")).not_to_contain_text("blocked")


@pytest.fixture
def killed_server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server whose dates may be short, to be killed."""
    short = PATIENT | {"date__touch_after_s": 0}
    with running_server(tmp_path / "data", **short) as server:
        yield server


def test_the_question_is_answered_after_the_server_was_killed(
    killed_server: ServerProcess, contexts: Callable[..., BrowserContext]
) -> None:
    ana, ben = (Person(contexts(), killed_server, name) for name in ("ana", "ben"))
    ana.has_profile()
    ben.has_profile(gender="man", seeking=["woman"])
    for person in (ana, ben):
        person.arrive()
    start_date(ana, ben)
    ana.press("End date")
    for me, other in ((ana, ben), (ben, ana)):
        me.headed(f"Stay in touch with {other.name}?")
    ana.press("Yes, stay in touch")
    ana.sees_notice("Your yes is in.")
    killed_server.kill()
    expect(ben.page.locator("#connection")).to_contain_text("Connection lost.")
    # The question is still there, and what is pressed meanwhile is not lost without a word.
    ben.headed("Stay in touch with Ana?")
    ben.press("Yes, stay in touch")
    ben.sees_notice("Can't reach the server.")
    killed_server.start()
    for person in (ana, ben):
        person.until("welcomes.length > 1")
    ben.headed("Stay in touch with Ana?")
    ben.press("Yes, stay in touch")
    for me, other in ((ana, ben), (ben, ana)):
        me.sees_notice(f"You and {other.name} both said yes. You're connected.")
