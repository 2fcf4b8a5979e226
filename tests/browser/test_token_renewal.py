"""Tokens that expire while a page is open: yoked.js renews them, and so does the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.pages import PATIENT, Person

PROGRAM = """
async (user_id) => {
  const { Api, advance, connect } = await import("/yoked.js");
  const login = () => new Api().devLogin(user_id);
  const token = await login();
  const closed = (client) => new Promise((resolve) => {
    client.addEventListener("status", ({ detail: { status, code } }) => {
      if (status === "closed") resolve(code);
    });
  });
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  BODY
}
"""


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Tokens of the development login are valid for four seconds."""
    return PATIENT | {"auth__dev_token_ttl_s": 4}


@pytest.fixture
def cleo(new_person: Callable[..., Person]) -> Person:
    cleo = new_person("cleo")
    cleo.has_profile()
    cleo.open()
    return cleo


def run(person: Person, body: str) -> Any:
    return person.page.evaluate(PROGRAM.replace("BODY", body), person.user_id)


def test_a_client_that_can_renew_its_token_stays_connected(cleo: Person) -> None:
    status, welcomes, renewed, is_api_well = run(
        cleo,
        """
        let renewed = 0, welcomes = 0;
        const renewToken = async () => {
          renewed += 1;
          return renewed === 1 ? "nonsense" : login();
        };
        const client = connect({ token, renewToken });
        client.addEventListener("welcome", () => { welcomes += 1; });
        await client.welcomed();
        await sleep(9000);
        const { state } = await client.api.status();
        const found = [client.status, welcomes, renewed, state === "idle"];
        client.close();
        return found;
        """,
    )
    # The first renewal fails, so the client reconnects once. Later renewals succeed.
    assert (status, welcomes, is_api_well) == ("online", 2, True)
    assert renewed >= 3


def test_a_client_that_cannot_renew_its_token_is_closed(cleo: Person) -> None:
    assert run(cleo, "return closed(connect({ token }));") == 4003


def test_the_app_stays_signed_in_on_a_development_server(new_person: Callable[..., Person]) -> None:
    dora = new_person("dora")
    dora.has_profile()
    dora.sign_in()
    before = dora.page.evaluate("sessionStorage.getItem('yoked.token')")
    dora.page.wait_for_timeout(6000)
    assert dora.page.evaluate("sessionStorage.getItem('yoked.token')") != before
    assert dora.page.locator("#sign-out").is_visible()


def test_the_snapshot_after_leaving_a_match_equals_the_servers(cleo: Person) -> None:
    cancelled, left, decided = run(
        cleo,
        """
        const before = {
          state: "voting", credit: 10, match: { match_id: "m2" },
          last_match_id: "m1", last_outcome: "pass_pass",
        };
        const of = (event) => advance(before, { match_id: "m2", reason: "you_left", ...event });
        return [
          of({ type: "match_cancelled", next: "waiting" }),
          of({ type: "outcome", outcome: "cancelled", next: "idle", credit: 10 }),
          of({ type: "outcome", outcome: "yes_idle", next: "idle", credit: 10 }),
        ];
        """,
    )
    assert cancelled == {"state": "waiting", "credit": 10, "last_match_id": "m2"}
    assert left == {"state": "idle", "credit": 10, "last_match_id": "m2"}
    assert decided == {**left, "last_outcome": "yes_idle"}
