"""Users who look away, networks without WebSockets, devices that go offline, fetches that fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import CHROMIUM
from tests.browser.pages import PATIENT, Caller, Person
from tests.browser.proxy import proxy_without_sockets
from tests.process.server import ServerProcess

# Counts what would reach a user who looks at another tab.
WATCH_REACHING = """
window.messages = [];
window.notes = 0;
window.locks = [];
window.Notification = class {
  static permission = "default";
  static async requestPermission() { return this.permission = "granted"; }
  constructor(title, options) { window.messages.push(`${title}: ${options.body}`); }
  close() {}
};
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (...given) { window.notes++; start.apply(this, given); };
const lock = { released: false, async release() { window.locks.push("released"); } };
Object.defineProperty(navigator, "wakeLock", { value: { async request() {
  window.locks.push("locked");
  return { ...lock };
} } });
"""
HIDE = """
Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
document.dispatchEvent(new Event("visibilitychange"));
"""
SHOW = HIDE.replace('"hidden"', '"visible"')


@pytest.fixture(scope="module")
def programs() -> tuple[str, ...]:
    """Chromium itself, because the headless shell shows no notifications of service workers."""
    return CHROMIUM


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    return PATIENT | {"matching__vote_window_s": 30}


@pytest.fixture
def ana(new_person: Callable[..., Person]) -> Person:
    ana = new_person("ana")
    ana.has_profile()
    return ana


@pytest.fixture
def ben(ana: Person) -> Iterator[Caller]:
    user_id = ana.user_id.replace("ana", "ben")
    ben = Caller(ana.server, user_id, gender="man", seeking=["woman"])
    yield ben
    ben.leave_line()


def test_a_user_who_looks_away_is_reached(ana: Person, ben: Caller) -> None:
    page = ana.page
    page.add_init_script(WATCH_REACHING)
    ana.arrive()
    ana.spin()
    ana.at("/spinning")
    ana.reads("Keep this page open.")
    expect(page).to_have_title(re.compile(r"^\(0:\d\d\) Looking for someone · Yoked$"))
    ana.until("locks.length > 0")
    assert page.evaluate("locks") == ["locked"]
    # Nobody is asked before; the button explains what it is for.
    assert page.evaluate("Notification.permission") == "default"
    ana.press("Tell me when someone is found")
    ana.reads("You'll get a sound and a message when someone is found.")
    page.evaluate(HIDE)
    match_id = ben.spin()
    ana.until("messages.length > 0")
    [message] = page.evaluate("messages")
    assert message.startswith("Someone is here for you: Meet Ben.")
    assert page.evaluate("notes") > 0
    # The match counts as seen when the tab is visible again.
    page.evaluate(SHOW)
    ben.acknowledge(match_id)
    ana.can_vote()
    expect(page).to_have_title(re.compile(r"^\(\d+\) Meet Ben · Yoked$"))
    ana.press("Sign out")
    ana.until("locks.at(-1) === 'released'")


# A phone: only a service worker may show messages. `shown` counts them: to ask for them while one
# is about to be shown makes Chromium forget it.
BE_A_PHONE = """
const granted = { permission: "granted", requestPermission: async () => "granted" };
const refuse = function () { throw new TypeError("Illegal constructor"); };
window.Notification = Object.assign(refuse, granted);
window.shown = 0;
const show = ServiceWorkerRegistration.prototype.showNotification;
ServiceWorkerRegistration.prototype.showNotification = async function (...message) {
  await show.apply(this, message);
  window.shown += 1;
};
"""
SHOWN = """
(async () => {
  const worker = await navigator.serviceWorker.getRegistration("/app/");
  return (await worker?.getNotifications() ?? []).map(({ title, body }) => `${title}: ${body}`);
})()
"""


def test_a_phone_gets_its_messages_from_a_service_worker(ana: Person, ben: Caller) -> None:
    ana.context.grant_permissions(["notifications"])
    page = ana.page
    page.add_init_script(BE_A_PHONE)
    page.add_init_script(
        """localStorage.setItem("yoked.preferences", '{"notifications": true, "checked": true}');"""
    )
    ana.arrive()
    ana.spin()
    ana.at("/spinning")
    page.evaluate(HIDE)
    ben.spin()
    ana.until("shown === 1")
    [message] = page.evaluate(SHOWN)
    assert message.startswith("Someone is here for you: Meet Ben.")
    # The message is gone when the user is back.
    page.evaluate(SHOW)
    ana.until(f"(await {SHOWN}).length === 0")


def test_going_offline_is_said_at_once(ana: Person) -> None:
    ana.arrive()
    ana.context.set_offline(True)
    banner = ana.page.locator("#connection")
    expect(banner).to_contain_text("You're offline.")
    ana.context.set_offline(False)
    expect(banner).to_be_hidden()
    ana.until("welcomes.length > 1")


def test_a_fetch_that_fails_once_is_tried_again_before_anything_is_said(ana: Person) -> None:
    failed: list[str] = []

    def fail_once(route: Route) -> None:
        if route.request.url in failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.abort()

    ana.page.route("**/api/**", fail_once)
    ana.arrive()
    ana.open("/connections")
    ana.reads("No connections yet.")
    assert len(failed) >= 3
    expect(ana.page.locator("#notice")).to_be_hidden()


@pytest.fixture
def proxied(ana: Person, server: ServerProcess) -> Iterator[Person]:
    """Ana, in a network that lets no WebSocket through."""
    ana.known_problems += ("WebSocket connection to",)
    with proxy_without_sockets(server.port) as url:
        ana.open_at(url)
        yield ana
        ana.page.close()


def test_without_websockets_a_user_still_meets_and_votes(proxied: Person, ben: Caller) -> None:
    ana = proxied
    ana.page.get_by_label("Your name").fill(ana.user_id)
    ana.press("Sign in")
    ana.at_home()
    banner = ana.page.locator("#connection")
    expect(banner).to_contain_text("Your network doesn't allow a live connection")
    assert ana.page.evaluate("welcomes.length") == 0
    ana.spin()
    ana.headed("Looking for someone…")
    ana.reads("No one else is in line right now.")
    match_id = ben.spin()
    ana.reads("Waiting for Ben to arrive…")
    ben.acknowledge(match_id)
    ana.can_vote()
    ana.shoot("f-polling")
    ana.vote("yes")
    ana.reads("Your vote is in.")
    ben.vote(match_id, "pass")
    ana.sees_notice("It wasn't mutual this time. Your yes moved you up the line")
    ana.press("Leave the line")
    ana.headed("Ready when you are")


def test_without_websockets_a_date_says_why_there_is_no_video(proxied: Person, ben: Caller) -> None:
    ana = proxied
    ana.page.get_by_label("Your name").fill(ana.user_id)
    ana.press("Sign in")
    ana.at_home()
    ana.spin()
    ana.headed("Looking for someone…")
    match_id = ben.spin()
    ben.acknowledge(match_id)
    ana.can_vote()
    ben.vote(match_id, "yes")
    ana.vote("yes")
    ana.headed("You and Ben")
    ana.reads("Your network doesn't let video through.")
    ana.press("End date")
    ana.sees_notice("The date is over.")
