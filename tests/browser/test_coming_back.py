"""Reloads, lost sockets, other windows, restarts: the page follows the state on the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.pages import Caller, Person
from tests.process.server import ServerProcess, run_cli, running_server

WAYS: dict[str, Callable[[Person], object]] = {
    "reload": Person.reload,
    "cut": Person.cut,
}


@pytest.fixture
def ana(new_person: Callable[..., Person]) -> Person:
    ana = new_person("ana")
    ana.has_profile()
    ana.sign_in_by_token()
    ana.at_home()
    return ana


@pytest.fixture
def ben(ana: Person) -> Iterator[Caller]:
    """A compatible person who only does what the test says."""
    user_id = ana.user_id.replace("ana", "ben")
    ben = Caller(ana.server, user_id, gender="man", seeking=["woman"])
    yield ben
    ben.leave_line()


@pytest.mark.parametrize("way", WAYS)
def test_a_reload_and_a_lost_socket_lead_back_to_the_same_page(
    ana: Person, ben: Caller, way: str
) -> None:
    def happens() -> None:
        WAYS[way](ana)

    happens()
    ana.headed(re.compile("^Hello"))
    for path, title in {"/profile": "Your profile", "/spin": "Ready when you are"}.items():
        ana.open(path)
        ana.headed(title)
        happens()
        ana.headed(title)
        ana.at(path)
    ana.spin()
    ana.at("/spinning")
    happens()
    ana.at("/spinning")
    ana.reads("No one else is in line right now.")
    # A waiting user may open other pages. A reload leads back to the waiting page.
    ana.page.get_by_role("link", name="Profile").click()
    ana.headed("Your profile")
    happens()
    ana.at("/spinning" if way == "reload" else "/profile")
    match_id = ben.spin()
    ana.at("/voting-window")
    ana.reads("Waiting for Ben to arrive…")
    happens()
    ana.at("/voting-window")
    ana.reads("Waiting for Ben to arrive…")
    ben.acknowledge(match_id)
    ana.can_vote()
    happens()
    ana.can_vote()
    assert 0 < int(ana.page.get_by_role("timer").inner_text()) <= 30
    ana.vote("yes")
    ana.reads("Your vote is in.")
    happens()
    ana.reads("Your vote is in.")
    ben.vote(match_id, "yes")
    ana.at("/video-date")
    happens()
    ana.at("/video-date")
    ana.headed("You and Ben")
    ana.press("End date")
    ana.at("/spin")
    happens()
    ana.at("/spin")


def test_a_notice_tells_what_happened_while_the_socket_was_lost(ana: Person, ben: Caller) -> None:
    ana.spin()
    ana.at("/spinning")
    match_id = ben.spin()
    ben.acknowledge(match_id)
    ana.can_vote()
    ana.vote("yes")
    ana.reads("Your vote is in.")
    # No new socket opens until Ben has voted.
    ana.page.evaluate(
        """() => {
          window.Real = window.WebSocket;
          window.WebSocket = class extends EventTarget { close() {} };
          sockets.at(-1).close();
        }"""
    )
    expect(ana.page.locator("#connection")).to_contain_text("Connection lost.")
    ben.vote(match_id, "pass")
    ana.page.evaluate("() => { window.WebSocket = Real; dispatchEvent(new Event('online')); }")
    ana.at("/spinning")
    ana.sees_notice(
        "It wasn't mutual this time. Your yes moved you up the line: you have 10 credit."
    )
    expect(ana.page.locator("#connection")).to_be_hidden()


def test_a_second_window_takes_over_and_the_first_one_can_take_it_back(
    ana: Person, new_person: Callable[..., Person]
) -> None:
    ana.spin()
    ana.at("/spinning")
    token = ana.page.evaluate("sessionStorage.getItem('yoked.token')")
    other = new_person("other")
    other.page.add_init_script(f"sessionStorage.setItem('yoked.token', '{token}')")
    other.open("/offers")
    other.at("/spinning")
    ana.headed("Yoked is open in another window")
    ana.press("Use this window")
    ana.at("/spinning")
    other.headed("Yoked is open in another window")


def test_an_invalid_token_leads_to_the_sign_in(new_person: Callable[..., Person]) -> None:
    ana = new_person("ana")
    ana.page.add_init_script("sessionStorage.setItem('yoked.token', 'a.b.c')")
    ana.open("/spin")
    ana.headed("Meet someone now")
    ana.reads("Your sign-in is no longer valid. Please sign in again.")
    ana.at("/")


def test_a_suspended_user_reads_why_and_until_when(ana: Person) -> None:
    ana.spin()
    ana.at("/spinning")
    data = str(ana.server.database.parent)
    reason, until = "Be kind to people.", "2099-02-01T09:00:00Z"
    options = ("--reason", reason, "--until", until, "--data", data)
    assert run_cli("users", "suspend", ana.user_id, *options).returncode == 0
    ana.headed("Your account is suspended")
    told = re.compile(r"It is suspended until .*2099.*Reason: Be kind to people\.")
    ana.reads(told)
    # A reload and a new sign-in show the same, from the reply to hello.
    ana.reload()
    ana.reads(told)
    ana.press("Sign out")
    ana.page.get_by_label("Your name").fill(ana.user_id)
    ana.press("Sign in")
    ana.reads(told)
    run_cli("users", "unsuspend", ana.user_id, "--data", data)
    ana.press("Check again")
    ana.at_home()


def test_signing_out_forgets_the_user(ana: Person) -> None:
    ana.spin()
    ana.at("/spinning")
    ana.press("Sign out")
    ana.headed("Meet someone now")
    ana.reload()
    ana.headed("Meet someone now")
    ana.at("/")
    ana.open("/profile")
    ana.headed("Meet someone now")
    ana.page.get_by_label("Your name").fill(ana.user_id)
    ana.press("Sign in")
    # The requested page is shown after signing in, and the user is not in line.
    ana.headed("Your profile")
    ana.at("/profile")


def test_back_and_forward_lead_through_the_pages(ana: Person) -> None:
    for name in ("Offers", "Connections", "Profile"):
        ana.page.get_by_role("navigation").get_by_role("link", name=name).click()
    ana.headed("Your profile")
    ana.page.go_back()
    ana.headed("Connections")
    expect(ana.page).to_have_title("Connections · Yoked")
    expect(ana.page.get_by_role("heading", level=1)).to_be_focused()
    ana.page.go_forward()
    ana.headed("Your profile")
    # A page that the state does not allow redirects to one that is allowed.
    ana.open("/voting-window")
    ana.at("/spin")


@pytest.fixture
def restarted_server(tmp_path: Path) -> Iterator[ServerProcess]:
    with running_server(tmp_path / "data", server__reconnect_after_s=0.5) as server:
        yield server


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_page_reconnects_to_a_restarted_server(
    restarted_server: ServerProcess, contexts: Callable[..., BrowserContext], end: str
) -> None:
    ana = Person(contexts(), restarted_server, "ana")
    ana.has_profile()
    ana.arrive()
    ana.spin()
    ana.reads("No one else is in line right now.")
    getattr(restarted_server, end)()
    expect(ana.page.locator("#connection")).to_contain_text("Connection lost.")
    restarted_server.start()
    ana.until("welcomes.length > 1")
    ana.at("/spinning")
    expect(ana.page.locator("#connection")).to_be_hidden()
    ben = Caller(restarted_server, "ben", gender="man", seeking=["woman"])
    ben.spin()
    ana.at("/voting-window")
