"""yoked.js without a socket: it asks over HTTP, and comes back to a socket soon.

The time of the page is Playwright's clock: a test can let it pass faster.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser.pages import Person

# Sockets are refused while `refusing` is true. `attempts` has the time of each socket, and `ends`
# counts those that were closed.
REFUSE_SOCKETS = """
window.refusing = true;
window.attempts = [];
window.ends = 0;
const Real = window.WebSocket;
window.WebSocket = class extends Real {
  constructor(url, ...more) {
    if (window.refusing) super(url.replace("/ws", "/nothing"), ...more);
    else super(url, ...more);
    window.attempts.push(Date.now());
    this.addEventListener("close", () => { window.ends += 1; });
  }
};
"""
CONNECT = """
async ([user_id, is_renewing]) => {
  const { Api, connect } = await import("/yoked.js");
  const login = () => new Api().devLogin(user_id);
  const renewToken = async () => { window.renewed = true; return login(); };
  const token = await login();
  window.client = connect({ token, renewToken: is_renewing ? renewToken : undefined });
}
"""


@pytest.fixture
def cleo(new_person: Callable[..., Person]) -> Person:
    """A person whose sockets are refused, on a page with a clock of its own."""
    cleo = new_person("cleo")
    cleo.known_problems += ("WebSocket connection to",)
    cleo.has_profile()
    cleo.page.clock.install()
    cleo.page.add_init_script(REFUSE_SOCKETS)
    cleo.open()
    return cleo


def polls(cleo: Person, *, renews: bool = False) -> None:
    """Connect, and let time pass until the client asks over HTTP."""
    cleo.page.evaluate(CONNECT, [cleo.user_id, renews])
    until(cleo, "client.status === 'polling'")


def until(cleo: Person, condition: str) -> None:
    """Let time pass, a tenth of a second at a time, until a condition holds."""
    for _ in range(600):
        if cleo.page.evaluate(condition):
            return
        cleo.page.clock.run_for(100)
    raise AssertionError(condition)


def test_a_server_that_was_away_is_soon_reached_by_a_socket_again(cleo: Person) -> None:
    polls(cleo)
    before = cleo.page.evaluate("refusing = false, Date.now()")
    until(cleo, "client.status === 'online'")
    assert cleo.page.evaluate("attempts.at(-1)") - before <= 1000


def test_a_network_without_sockets_is_tried_less_and_less_often(cleo: Person) -> None:
    polls(cleo)
    started = cleo.page.evaluate("attempts.length")
    until(cleo, f"attempts.length === {started} + 6")
    times = cleo.page.evaluate("attempts")
    first, last = times[started + 1] - times[started], times[-1] - times[-2]
    assert last > 2 * first


def test_a_page_that_is_visible_again_tries_a_socket_at_once(cleo: Person) -> None:
    polls(cleo)
    started = cleo.page.evaluate("attempts.length")
    until(cleo, f"attempts.length === {started} + 4")
    cleo.until("client.status === 'polling' && ends === attempts.length")
    before = cleo.page.evaluate(
        "refusing = false, document.dispatchEvent(new Event('visibilitychange')), attempts.length"
    )
    cleo.until("client.status === 'online'")
    assert cleo.page.evaluate("attempts.length") == before


def test_a_client_without_a_socket_renews_a_token_that_is_refused(cleo: Person) -> None:
    polls(cleo, renews=True)
    cleo.page.evaluate("client.api.token = 'expired'")
    until(cleo, "window.renewed === true")
    until(cleo, "client.api.token !== 'expired'")
    cleo.page.clock.run_for(3000)
    assert cleo.page.evaluate("client.status") == "polling"
