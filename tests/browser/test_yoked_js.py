"""yoked.js without the app, as docs/yoked-js.md describes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.pages import Caller, Person
from tests.test_docs import ROOT, fences

# The prelude of a test's program: the module, a token, and a way to wait for an event.
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
def cleo(new_person: Callable[..., Person]) -> Person:
    """A person whose page is open, but not signed in."""
    cleo = new_person("cleo")
    cleo.has_profile()
    cleo.open()
    return cleo


def run(person: Person, body: str) -> Any:
    """Run a program in the page; returns its result."""
    return person.page.evaluate(PROGRAM.replace("BODY", body), person.user_id)


def test_the_program_in_the_documentation_works(
    new_person: Callable[..., Person],
) -> None:
    shown = fences(ROOT / "docs" / "yoked-js.md")
    [program] = [fence.text for fence in shown if fence.kind == "js runnable"]
    cleo = new_person("cleo")
    cleo.open()
    with cleo.page.expect_console_message() as said:
        cleo.page.evaluate(f"async () => {{ {program} }}")
        ben = Caller(cleo.server, f"ben-of-{cleo.user_id}", gender="man", seeking=["woman"])
        match_id = ben.spin()
        ben.acknowledge(match_id)
        cleo.until("heard.includes('voting')")
        ben.vote(match_id, "yes")
    assert said.value.text == "It ends as both_yes"


def test_a_command_during_a_lost_connection_is_sent_after_the_reconnect(cleo: Person) -> None:
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


def test_errors_and_missing_replies_reject_with_a_code(cleo: Person) -> None:
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


def test_pending_commands_of_a_lost_session_are_not_sent_again(cleo: Person) -> None:
    code, resumed, state = run(
        cleo,
        """
        const client = connect({ token });
        await client.welcomed();
        // The spin is never sent, and the session ID is unknown to the server.
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


def test_the_server_time_is_known_although_the_local_clock_is_wrong(cleo: Person) -> None:
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


def test_times_keep_their_microseconds(cleo: Person) -> None:
    assert run(
        cleo,
        """
        return ["01", "01.5", "01.000001"].map((s) => microseconds(`1970-01-01T00:00:${s}Z`));
        """,
    ) == [1_000_000, 1_500_000, 1_000_001]
