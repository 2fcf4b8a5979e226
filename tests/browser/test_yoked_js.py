"""yoked.js by itself: what its page in the documents promises to other people's programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.pages import Caller, Person
from tests.test_docs import ROOT, fences

# What a test's program has at hand: the module, a token, and a way to wait for one event.
PROGRAM = """
async (user_id) => {
  const { Api, connect, advance, microseconds } = await import("/yoked.js");
  const token = await new Api().devLogin(user_id);
  const next = (client, type) => new Promise((resolve) => {
    client.addEventListener(type, ({ detail }) => resolve(detail), { once: true });
  });
  const code = (promise) => promise.then(() => "no refusal", (error) => error.code);
  BODY
}
"""


@pytest.fixture
def cleo(somebody: Callable[..., Person]) -> Person:
    """Somebody whose page is open and signs nobody in."""
    cleo = somebody("cleo")
    cleo.has_profile()
    cleo.open()
    return cleo


def run(person: Person, body: str) -> Any:
    """Run a program in a person's page, and return what it returns."""
    return person.page.evaluate(PROGRAM.replace("BODY", body), person.user_id)


def test_the_program_that_its_page_shows_meets_somebody(somebody: Callable[..., Person]) -> None:
    shown = fences(ROOT / "docs" / "yoked-js.md")
    [program] = [fence.text for fence in shown if fence.kind == "js runnable"]
    cleo = somebody("cleo")
    cleo.open()
    with cleo.page.expect_console_message() as said:
        cleo.page.evaluate(f"async () => {{ {program} }}")
        ben = Caller(cleo.server, f"ben-of-{cleo.user_id}", gender="man", seeking=["woman"])
        match_id = ben.spin()
        ben.acknowledge(match_id)
        cleo.until("heard.includes('voting')")
        ben.vote(match_id, "yes")
    assert said.value.text == "It ends as both_yes"


def test_a_command_given_while_the_socket_is_lost_is_done_once_it_is_back(cleo: Person) -> None:
    states, resumed = run(
        cleo,
        """
        const client = connect({ token });
        await client.welcomed();
        sockets.at(-1).close();
        await next(client, "status");
        const [lost, waiting] = [client.status, next(client, "waiting")];
        const states = [lost, (await client.spin()).state];
        await waiting;
        states.push(client.snapshot.state);
        client.close();
        return [states, welcomes.at(-1).resumed];
        """,
    )
    assert states == ["away", "waiting", "waiting"]
    assert resumed is True


def test_refusals_and_missing_answers_reject_with_a_code(cleo: Person) -> None:
    codes = run(
        cleo,
        """
        const client = connect({ token, timeout_s: 0.3 });
        await client.welcomed();
        const codes = [await code(client.leave()), await code(client.vote("m0", "yes"))];
        codes.push(await code(client.api.saveProfile({})));
        codes.push(await code(client.api.call("GET", "/api/nothing")));
        WebSocket.prototype.send = () => {};
        codes.push(await code(client.spin()));
        client.close();
        codes.push(await code(client.spin()));
        return codes;
        """,
    )
    assert codes == [
        "wrong_state",
        "unknown_match",
        "bad_request",
        "not_found",
        "timeout",
        "connection_lost",
    ]


def test_what_was_under_way_in_a_session_that_is_gone_is_not_repeated(cleo: Person) -> None:
    code, resumed, state = run(
        cleo,
        """
        const client = connect({ token });
        await client.welcomed();
        // A spin that never arrives, and a session that the server does not know any more.
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) {
          const message = JSON.parse(text);
          if (message.resume) message.resume.session = "gone";
          if (message.type !== "spin") send.call(this, JSON.stringify(message));
        };
        const answer = code(client.spin());
        sockets.at(-1).close();
        const said = [await answer, welcomes.at(-1).resumed, client.snapshot.state];
        client.close();
        return said;
        """,
    )
    assert (code, resumed, state) == ("connection_lost", False, "idle")


def test_the_servers_time_is_known_whatever_the_clock_of_the_device_says(cleo: Person) -> None:
    off_ms = run(
        cleo,
        """
        const right = Date.now;
        Date.now = () => right() + 3_600_000;
        const client = connect({ token });
        await client.welcomed();
        await client.heartbeat();
        const off_ms = client.now() - right();
        client.close();
        Date.now = right;
        return off_ms;
        """,
    )
    assert abs(off_ms) < 2000


def test_instants_keep_all_of_their_digits(cleo: Person) -> None:
    assert run(
        cleo,
        """
        return ["01", "01.5", "01.000001"].map((s) => microseconds(`1970-01-01T00:00:${s}Z`));
        """,
    ) == [1_000_000, 1_500_000, 1_000_001]
