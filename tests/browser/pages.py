"""Two people in two browser contexts, each with a socket that a test can watch and cut."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.process.house import House
from yoked_actor.testing import make_profile

SHOTS = Path(__file__).parents[2] / ".screenshots"
PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1200, "height": 800}

# Every socket of the page, in order, with the welcomes that came through it. A page that lies in
# wait for messages cannot be wrong about what the server has said.
WATCH_SOCKETS = """
window.sockets = [];
window.welcomes = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    window.sockets.push(this);
    this.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "welcome") window.welcomes.push(message);
    });
  }
};
"""


class Person:
    """Somebody at a browser."""

    def __init__(self, context: BrowserContext, house: House, user_id: str) -> None:
        self.context = context
        self.house = house
        self.user_id = user_id
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(f"{user_id}: {error}"))
        self.page.on("console", self._console)

    def _console(self, message: Any) -> None:
        # A refused call is logged by the browser itself; what our pages log is a problem.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(f"{self.user_id}: {message.text}")

    def open(self, path: str = "/") -> None:
        self.page.goto(self.house.url + path)

    def sign_in(self) -> None:
        """By the form, as anybody would."""
        self.open()
        self.page.get_by_label("Your name").fill(self.user_id)
        self.page.get_by_role("button", name="Sign in").click()

    def arrive(self) -> None:
        """Sign in, and be where somebody with a profile is."""
        self.sign_in()
        expect(self.page.get_by_role("heading", level=1)).to_have_text(re.compile("^Hello"))

    def spin(self) -> None:
        self.page.get_by_role("button", name="Spin", exact=True).click()

    def at(self, path: str) -> None:
        """Wait until the page is there."""
        expect(self.page).to_have_url(self.house.url + path)

    def told(self, words: str) -> None:
        """Wait until the page says so, at its top."""
        expect(self.page.locator("#story")).to_contain_text(words)

    def vote(self, vote: str) -> None:
        name = {"yes": re.compile("^Yes"), "pass": re.compile("^Pass")}[vote]
        self.page.get_by_role("button", name=name).click()

    def votable(self) -> None:
        """Wait until one can vote."""
        expect(self.page.get_by_role("button", name=re.compile("^Yes"))).to_be_enabled()

    def cut(self) -> None:
        """Lose the socket, and be back with nothing lost."""
        before = self.page.evaluate("welcomes.length")
        self.page.evaluate("sockets.at(-1).close()")
        self.page.wait_for_function("count => welcomes.length > count", arg=before)
        assert self.page.evaluate("welcomes.at(-1).resumed") is True

    def shoot(self, name: str) -> None:
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")


def profile_of(house: House, user_id: str, **parts: Any) -> str:
    """Give somebody a profile, as an app of their own would; returns their token."""
    body = {"user_id": user_id, "profile": make_profile(user_id.split("-")[0].title(), **parts)}
    request = urllib.request.Request(
        f"{house.url}/api/dev/login", json.dumps(body).encode(), {"Content-Type": "text/json"}
    )
    with urllib.request.urlopen(request) as answer:
        token: str = json.load(answer)["token"]
    return token


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    """A window of its own, with nothing kept from others."""
    options = {"viewport": LAPTOP, "permissions": ["camera", "microphone"], **options}
    context = browser.new_context(**options)
    context.set_default_timeout(20_000)
    context.add_init_script(WATCH_SOCKETS)
    return context
