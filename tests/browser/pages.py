"""People with a browser, and people who only use HTTP, for tests of the web client."""

from __future__ import annotations

import json
import re
import urllib.request
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect

from tests.process.server import ServerProcess
from yoked_actor.testing import make_profile

SHOTS = Path(__file__).parents[2] / ".screenshots"
PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1200, "height": 800}
PATIENCE_MS = 30_000
"""How long a page may take: a machine that runs tests is busy."""
expect.set_options(timeout=PATIENCE_MS)
# Long windows: on a busy machine, pages and tests are slow, and nobody should time out.
PATIENT: dict[str, Any] = {"matching__acknowledge_window_s": 30, "matching__liveness_s": 60}

# Records the sockets of a page, the types of all received messages, and every welcome.
WATCH_SOCKETS = """
window.sockets = [];
window.heard = [];
window.welcomes = [];
window.WebSocket = class extends WebSocket {
  constructor(...given) {
    super(...given);
    window.sockets.push(this);
    this.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      window.heard.push(message.type);
      if (message.type === "welcome") window.welcomes.push(message);
    });
  }
};
"""


class Caller:
    """A person who only uses HTTP, and only when the test says so."""

    def __init__(self, server: ServerProcess, user_id: str, **profile: Any) -> None:
        self.server = server
        self.user_id = user_id
        self.token = ""
        name = user_id.split("-")[0].title()
        body = {"user_id": user_id, "profile": make_profile(name, **profile)}
        self.token = self.call("POST", "/api/dev/login", body)["token"]

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.server.url + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def spin(self) -> str | None:
        """Spin; returns the ID of the match, if there is one."""
        match_id: str | None = self.call("POST", "/api/spin").get("match_id")
        return match_id

    def acknowledge(self, match_id: str | None) -> None:
        self.call("POST", "/api/match/acknowledge", {"match_id": match_id})

    def vote(self, match_id: str | None, vote: str) -> None:
        self.call("POST", "/api/vote", {"match_id": match_id, "vote": vote})

    def leave_line(self) -> None:
        """Leave the line or the match, so that others are not matched with this person."""
        if self.call("GET", "/api/match/status")["state"] != "idle":
            self.call("POST", "/api/leave")


class Person:
    """A person with a browser."""

    def __init__(self, context: BrowserContext, server: ServerProcess, user_id: str) -> None:
        self.context = context
        self.server = server
        self.user_id = user_id
        self.name = user_id.split("-")[0].title()
        self.token = ""
        self.problems: list[str] = []
        # Chromium logs error responses itself, such as 404 for a missing profile.
        self.known_problems: tuple[str, ...] = ("Failed to load",)
        self.page: Page = context.new_page()
        self.page.on("pageerror", lambda error: self.problems.append(f"{user_id}: {error}"))
        self.page.on("console", self._console)

    def _console(self, message: ConsoleMessage) -> None:
        known = any(text in message.text for text in self.known_problems)
        if message.type in ("error", "warning") and not known:
            self.problems.append(f"{self.user_id}: {message.text}")

    def has_profile(self, **profile: Any) -> None:
        self.token = Caller(self.server, self.user_id, **profile).token

    # Actions

    def open(self, path: str = "/") -> None:
        self.page.goto(self.server.url + path, wait_until="commit")

    def open_at(self, url: str) -> None:
        """Open the start page under another address, such as that of a proxy."""
        self.page.goto(url, wait_until="commit")

    def advance(self, seconds: float) -> None:
        """Let time pass on a server with a mock clock."""
        Caller(self.server, "clock").call("POST", "/api/dev/clock/advance", {"seconds": seconds})

    def reload(self) -> None:
        self.page.reload(wait_until="commit")

    def sign_in(self) -> None:
        self.open()
        self.page.get_by_label("Your name").fill(self.user_id)
        self.press("Sign in")

    def arrive(self) -> None:
        """Sign in with a profile, and wait for the home page."""
        self.sign_in()
        self.at_home()

    def sign_in_by_token(self) -> None:
        """Sign in without the form; does not wait for the page."""
        self.page.add_init_script(
            f"""if (!sessionStorage.getItem("came")) {{
              sessionStorage.setItem("came", "yes");
              sessionStorage.setItem("yoked.token", "{self.token}");
            }}"""
        )
        self.page.goto(self.server.url, wait_until="commit")

    def choose_place(self, text: str, name: str) -> None:
        """Type the beginning of a place, and choose it from the list."""
        self.page.get_by_label("City or town").fill(text)
        self.page.get_by_role("option", name=name).click()

    def at_home(self) -> None:
        self.headed(re.compile("^Hello, "))

    def press(self, name: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def spin(self) -> None:
        self.press("Spin")

    def vote(self, vote: str) -> None:
        self.press(re.compile(f"^{vote}", re.IGNORECASE))

    def cut(self) -> None:
        """Close the socket, and wait until the session is resumed."""
        before = self.page.evaluate("welcomes.length")
        self.page.evaluate("sockets.at(-1).close()")
        self.until(f"welcomes.length > {before}")
        assert self.page.evaluate("welcomes.at(-1).resumed") is True

    # Expectations

    def at(self, path: str) -> None:
        expect(self.page).to_have_url(self.server.url + path)

    def headed(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(text)

    def reads(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator("main")).to_contain_text(text)

    def sees_notice(self, text: str | re.Pattern[str]) -> None:
        expect(self.page.locator("#notice")).to_contain_text(text)

    def can_vote(self) -> None:
        yes = self.page.get_by_role("button", name=re.compile("^Yes"))
        expect(yes).to_be_enabled()

    def sees_video(self) -> None:
        expect(self.page.locator(".cover.away")).to_have_count(1)

    def until(self, condition: str) -> None:
        """Wait for a condition in the page. Playwright's own function needs `unsafe-eval`."""
        self.page.evaluate(
            f"""() => new Promise((resolve, reject) => {{
              const end = performance.now() + {PATIENCE_MS};
              const look = async () => {{
                if ({condition}) resolve();
                else if (performance.now() > end) reject(new Error({json.dumps(condition)}));
                else setTimeout(() => look().catch(reject), 20);
              }};
              look().catch(reject);
            }})"""
        )

    def shoot(self, name: str) -> None:
        """Take a screenshot."""
        SHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")


# A user who was on a date before is not shown the device check.
HAS_CHECKED = """
const checked = JSON.parse(localStorage.getItem("yoked.preferences") ?? "{}");
localStorage.setItem("yoked.preferences", JSON.stringify({ checked: true, ...checked }));
"""


def new_context(browser: Browser, *, is_new: bool = False, **options: Any) -> BrowserContext:
    """A separate browser context; `is_new` for a user who was never on a date.

    Without motion, unless the options say otherwise: without a GPU, each frame of an animation is
    drawn by the CPU, sixty times a second in every window.
    """
    given = {
        "viewport": LAPTOP,
        "permissions": ["camera", "microphone"],
        "locale": "en-GB",
        "reduced_motion": "reduce",
    }
    context = browser.new_context(**(given | options))
    context.set_default_timeout(PATIENCE_MS)
    context.add_init_script(WATCH_SOCKETS)
    if not is_new:
        context.add_init_script(HAS_CHECKED)
    return context


def meet(*people: Person) -> None:
    """Let two people spin, and wait until both can vote."""
    for person in people:
        person.spin()
    for person in people:
        person.at("/voting-window")
        person.can_vote()


def start_date(ana: Person, ben: Person) -> None:
    """Let two people spin and say yes, and wait for the date."""
    meet(ana, ben)
    for person in (ana, ben):
        person.vote("yes")
    for person in (ana, ben):
        person.at("/video-date")
